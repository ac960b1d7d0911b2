// The image's health check: ends with 0 when the service in this container answers.
const port = process.env.TERSE_PORT ?? '3000'
const response = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => undefined)
process.exitCode = response?.ok ? 0 : 1
