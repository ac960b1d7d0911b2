/** Imports run one way: main → cli → compose → rooms → domain → lib. */
const rooms = ['http', 'redirect', 'clicks', 'dns', 'tls', 'acme', 'storage', 'metrics']
const forbid = (name, from, to, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { path: to },
})

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    ...rooms.map((room) =>
      forbid(
        `${room}-knows-no-sibling`,
        `^src/${room}/`,
        `^src/(${rooms.filter((other) => other !== room).join('|')}|cli|config|compose|diagnosis|main)\\b`,
        'Rooms meet in compose/, through ports that the domain declares.',
      ),
    ),
    forbid(
      'domain-knows-lib-alone',
      '^src/domain/',
      '^src/(?!domain/|lib/)',
      'The domain has no I/O, no HTTP and no SQL.',
    ),
    forbid(
      'domain-does-no-io',
      '^src/domain/',
      '^(node:)?(fs|http|https|net|dns|child_process)$|^(kysely|pg|fastify|zod)$',
      'Ports do I/O; the domain declares them.',
    ),
    forbid('lib-knows-nothing', '^src/lib/', '^src/(?!lib/)', 'lib is free of the domain.'),
    forbid(
      'contract-knows-zod-alone',
      '^src/contract/',
      '^(?!src/contract/|node_modules/zod/)',
      'The contract is shared with clients.',
    ),
    forbid(
      'redirect-stays-light',
      '^src/redirect/',
      'node_modules/(kysely|zod|fastify|pg)/',
      'The hot path carries no framework.',
    ),
    forbid(
      'only-dns-asks-dns',
      '^src/(?!dns/|processes/listening-sockets)',
      '^(node:)?dns(/promises)?$',
      'Questions to DNS go through the port, with its time-outs; the name to listen on is no such question.',
    ),
    forbid(
      'only-http-knows-the-contract',
      '^src/(?!http/|contract/)',
      '^src/contract/',
      'The contract is the form of the API.',
    ),
    forbid(
      'only-compose-and-cli-know-config',
      '^src/(?!cli/|compose/|diagnosis/|config/)',
      '^src/config/',
    ),
    forbid(
      'cli-knows-compose-and-the-domain',
      '^src/cli/',
      '^src/(?!cli/|compose/|diagnosis/|config/|processes/|domain/|lib/)',
      'What a command needs of the rooms, compose/ gives it.',
    ),
    forbid('config-knows-lib-alone', '^src/config/', '^src/(?!config/|lib/)'),
    forbid(
      'processes-know-lib-alone',
      '^src/processes/',
      '^src/(?!processes/|lib/)',
      'Who supervises processes knows nothing of what they serve.',
    ),
    forbid(
      'only-the-cli-knows-the-diagnosis',
      '^src/(?!cli/|diagnosis/)',
      '^src/diagnosis/',
      'It looks at a service from beside it; no service rests on it.',
    ),
    forbid('nobody-below-knows-the-cli', '^src/(?!cli/|main)', '^src/cli/'),
    forbid('nobody-imports-main', '^src/', '^src/main\\.ts$'),
    forbid('src-knows-no-tests', '^src/', '^(test|bench|scripts)/'),
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
