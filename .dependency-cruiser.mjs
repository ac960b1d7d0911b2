/**
 * Layers: main → app → modules → platform. A module holds everything about a noun; app/ puts the
 * modules together; platform/ knows none of them.
 */
const TESTS = '\\.test\\.ts$'
const forbid = (name, from, to, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from, pathNot: TESTS },
  to: { path: to },
})

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    forbid(
      'contract-knows-zod-alone',
      '^contract/',
      '^(?!contract/|node_modules/zod/)',
      'The contract is shared with clients.',
    ),
    forbid(
      'redirects-stay-light',
      '^src/redirects/',
      'node_modules/(kysely|zod|fastify|pg)/',
      'The hot path carries no framework.',
    ),
    forbid(
      'only-platform-asks-dns',
      '^src/(?!platform/dns/|app/processes/listening-sockets)',
      '^(node:)?dns(/promises)?$',
      'Questions to DNS go through the port, with its time limits; the name to listen on is no such question.',
    ),
    forbid('main-is-not-imported', '^src/', '^src/main\\.ts$', 'It runs the program.'),
    forbid(
      'src-knows-no-tests',
      '^(src|contract)/',
      '^(test|bench|scripts)/',
      'What is shipped needs no test.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types'],
    },
  },
}
