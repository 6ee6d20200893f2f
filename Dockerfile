# Postern with its own database in /data, or with yours (DATABASE_URL). Build: docker build -t postern .
# Run: docker run -p 8080:8080 -v postern:/data postern

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --workspaces=false --ignore-scripts --no-audit --no-fund
COPY scripts/compile.mjs scripts/compile.mjs
COPY src src
COPY pages/src pages/src
COPY packages/client/src packages/client/src
COPY packages/elements/src packages/elements/src
RUN node scripts/compile.mjs && rm $(find dist -name '*.map')
# Makes the links of PostgreSQL's libraries, which npm packages cannot contain, because the service may not write here.
RUN node --input-type=module -e "import { locateBinaries } from './dist/tools.js'; await locateBinaries(undefined, [])"
# Only the build needs these.
RUN rm -rf node_modules/rolldown node_modules/@rolldown node_modules/.bin

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /opt/postern
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY migrations migrations
COPY console/built console/built
RUN ln -s /opt/postern/dist/cli/bin.js /usr/local/bin/postern && chmod +x dist/cli/bin.js && install -d -o node -g node -m 700 /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Postern handles SIGTERM itself: it answers the running requests first.
CMD ["node", "dist/cli/bin.js", "serve"]
