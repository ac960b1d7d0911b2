import fastify from 'fastify'

const [port, body] = process.argv.slice(2)

/** Fastify with default settings: parses the request's JSON and answers with a fixed text. */
const app = fastify()
app.post('/api/v1/links', (_request, reply) => {
  reply.code(201).header('Content-Type', 'application/json; charset=utf-8').send(body)
})
await app.listen({ port: Number(port), host: '127.0.0.1' })
process.stdout.write('ready\n')
