# The news service. It listens beyond the container and therefore needs keys: a file `keys` with the
# two lines `read KEY` and `write KEY`.
#   docker build --tag twinset .
#   docker run --publish 8080:8080 --volume twinset:/data --volume ./keys:/keys:ro twinset
FROM rust:1.95-bookworm AS build
WORKDIR /twinset
COPY . .
RUN cargo build --release --locked --package twinset-cli --features full

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --home-dir /data twinset
COPY --from=build /twinset/target/release/twinset /usr/local/bin/twinset
USER twinset
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["twinset"]
CMD ["serve", "--data", "/data/news", "--listen", "0.0.0.0:8080", "--key-file", "/keys"]
