/**
 * Imports run one way: main → app → modules → storage → platform. A module holds everything about a noun; storage/ has
 * the tables and logs of all; app/ puts the modules together; platform/ knows none of them.
 */
const TESTS = '\\.test\\.ts$'

/** From top to bottom: a module imports only those after it. */
const MODULES = [
  'remote',
  'backup',
  'operations',
  'assistants',
  'compat',
  'webhooks',
  'events',
  'exports',
  'imports',
  'explain',
  'conversions',
  'redirects',
  'certificates',
  'data-files',
  'clicks',
  'links',
  'domains',
  'hosts',
  'identity',
  'storage',
]

/** Of the dashboard, from top to bottom: a folder imports only those after it. */
const WEB_FOLDERS = ['pages', 'shell', 'widgets', 'api', 'text', 'state', 'icons']
const ANY_MODULE = `^src/(${MODULES.join('|')})/`
/** Modules that have an index. The last one, storage, is imported by file: its types belong to all others. */
const INDEXED_MODULE = `^src/(${MODULES.slice(0, -1).join('|')})/`

const forbid = (name, from, to, comment, except) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from, pathNot: TESTS },
  to: { path: to, ...(except && { pathNot: except }) },
})

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Files that import one another can only be understood together.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      comment: 'It would fail when it is run.',
      from: {},
      // Vite's plugins of the dashboard make these.
      to: { couldNotResolve: true, pathNot: '^virtual:' },
    },
    ...MODULES.slice(1).map((module, index) =>
      forbid(
        `no-module-cycles-${module}`,
        `^src/${module}/`,
        `^src/(${MODULES.slice(0, index + 1).join('|')})/`,
        'Modules have an order, so that none depends on itself through another.',
      ),
    ),
    forbid(
      'modules-meet-at-their-index',
      INDEXED_MODULE,
      INDEXED_MODULE,
      'index.ts, or store/index.ts for tables, is what a module offers to others; the rest can change freely.',
      ['^src/$1/', '^src/[^/]+/(store/)?index\\.ts$'],
    ),
    ...WEB_FOLDERS.slice(1).map((folder, index) =>
      forbid(
        `web-folders-are-ordered-${folder}`,
        `^web/src/${folder}/`,
        `^web/src/(${WEB_FOLDERS.slice(0, index + 1).join('|')})/`,
        'What a page needs can be used by every page; see web/README.md.',
      ),
    ),
    forbid(
      'web-is-a-client-of-the-api',
      '^web/src/',
      '^(src|test|bench|scripts)/',
      'The dashboard knows the contract, and sends requests.',
    ),
    forbid(
      'extension-is-a-client-of-the-api',
      '^extension/',
      '^(?!extension/|client/|contract/(visit-address|extension-client)|web/src/widgets/copy-text|node_modules/lucide/)',
      'It has the typed client, and of the dashboard and the contract only what is small and has no imports.',
    ),
    forbid(
      'src-knows-no-web',
      '^(src|contract)/',
      '^(web|extension)/',
      'The service sends built files.',
    ),
    forbid(
      'platform-knows-no-module',
      '^src/platform/',
      '^src/(?!platform/)',
      'The platform is what a service without links would need too.',
    ),
    {
      name: 'modules-know-no-app',
      severity: 'error',
      comment:
        'app/ puts modules together: what a module needs comes to it as a parameter. Its unit tests use fakes.',
      from: { path: ANY_MODULE },
      to: { path: '^src/app/' },
    },
    forbid(
      'contract-knows-zod-alone',
      '^contract/',
      '^(?!contract/|node_modules/zod/)',
      'The contract is shared with clients.',
    ),
    forbid(
      'client-knows-openapi-fetch-alone',
      '^client/',
      '^(?!client/|node_modules/openapi-fetch/)',
      'People install it by itself.',
    ),
    forbid(
      'redirects-stay-light',
      '^src/redirects/',
      'node_modules/(kysely|zod|fastify|pg)/',
      'The hot path carries no framework; loaded-packages.test.ts looks at what its imports load.',
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
