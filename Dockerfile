# The workflow with its lock. Nobody has built this image yet.
#   docker build -t hidden-dynamics . && docker run --rm -v "$PWD/results:/hidden-dynamics/results" hidden-dynamics snakemake --cores all
FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
WORKDIR /hidden-dynamics
COPY requirements.txt .
RUN pip install --no-cache-dir uv && uv pip install --system --no-cache --require-hashes -r requirements.txt
COPY . .
CMD ["snakemake", "--cores", "all"]
