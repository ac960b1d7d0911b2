import type { AssistantScope } from '@terse/contract/assistants'
import type { CompatService } from '@terse/contract/compat-services'
import { amountsIn } from '../plural.ts'

const { count } = amountsIn('en')

/** Words of the page about programs that reach the workspace, and of the one that lets them. */
export const connect = {
  hint: (workspace: string) => `How programs and assistants reach the links of ${workspace}.`,
  assistants: 'Assistants',
  assistantsHint: 'Let an AI assistant find, make and explain links over MCP.',
  mayConnect: 'Assistants may connect',
  off: 'Assistants cannot connect to this workspace.',
  on: 'Assistants can connect to this workspace.',
  address: 'Address',
  copyAddress: 'Copy address',
  kind: 'Kind of assistant',
  kinds: { file: 'Settings file', command: 'Command line', token: 'With a token' },
  asks: 'The assistant opens this browser, and you decide what it may do.',
  asksNot:
    'For an assistant that cannot open a browser. Put a token of this workspace in its place.',
  copySettings: 'Copy settings',
  allowed: 'Allowed assistants',
  none: 'No assistant has been allowed yet.',
  used: (when: string) => `used ${when}`,
  neverUsed: 'never used',
  until: (when: string) => `until ${when}`,
  withdraw: 'Withdraw',
  withdrawTitle: (name: string) => `Withdraw ${name}?`,
  withdrawText: 'Its next request is refused. What it has made stays.',
  withdrawn: (name: string) => `${name} can no longer connect`,
  acts: {
    'links:read': 'finds links',
    'clicks:read': 'reads charts',
    'links:write': 'creates and changes links',
    'links:delete': 'deletes links',
  } satisfies Readonly<Record<AssistantScope, string>>,
  services: 'Programs made for other services',
  servicesHint:
    'Switch one on, and Terse answers as that service does. Change the host name in the program, and give it a key.',
  serviceNames: {
    yourls: {
      name: 'YOURLS',
      clients: 'ShareX, plugins and scripts, with a signature token',
      serverFor: null,
    },
    kutt: {
      name: 'Kutt',
      clients: 'Its browser extension and packages, API v2',
      serverFor: 'for the browser extension',
    },
    shlink: {
      name: 'Shlink',
      clients: 'Its web client and packages, REST v3',
      serverFor: 'for the web client and packages',
    },
    bitly: {
      name: 'Bitly',
      clients: 'Programs that use API v4',
      serverFor: 'for the npm package',
    },
    polr: { name: 'Polr', clients: 'Programs that use API v2', serverFor: null },
  } satisfies Readonly<
    Record<CompatService, { name: string; clients: string; serverFor: string | null }>
  >,
  server: 'Server',
  copyServer: 'Copy server',
  key: 'Key',
  keyHint: 'Shown once. Keys are listed and revoked under Tokens.',
  createKey: 'Create key',
  keyTitle: (name: string) => `Key for clients of ${name}`,
  copyKey: 'Copy key',
  browser: 'In your browser',
  browserHint: 'Signed in as you, with your role in the workspace.',
  bookmark: 'Bookmark',
  bookmarkHint:
    'Opens a new link to the page that you read. Drag it to the bookmarks of your browser.',
  shorten: 'Shorten',
  drag: 'Drag it to the bookmarks of your browser',
  extension: {
    title: 'Browser extension',
    hint: 'Makes a link to the page that you read, with Alt + Shift + S. It is built from the sources of Terse and loaded into Chrome, Edge or Firefox by hand: docs/browser-extension.md.',
    address: 'Address of this service',
    copy: 'Copy the address for the extension',
    signedIn: 'Signed in with the extension',
    question: (workspace: string) => `Let the browser extension work with links of ${workspace}?`,
    actsAsYou: 'It acts as you. The audit trail names both of you. Deleting is for its “Undo”.',
    unchecked:
      'Terse cannot check which extension asks. Allow it only if you have just chosen “Sign in” in the extension of this browser.',
    notAllowed: 'Nothing was allowed.',
    answered: 'Allowed. The extension signs in.',
    stays:
      'The extension closes this page. If it stays, open the extension and choose “Sign in” again.',
  },
  consent: {
    title: 'Allow an assistant',
    question: (name: string, workspace: string) => `Let ${name} work with links of ${workspace}?`,
    actsAsYou: 'It acts as you. The audit trail names both of you.',
    notYou: 'Not you?',
    workspace: 'Workspace',
    may: 'It may',
    scopes: {
      'links:read': ['Find links and explain visits', 'Destinations, rules, tags, domains'],
      'clicks:read': ['Read charts', 'Clicks and conversions, no single visitor'],
      'links:write': [
        'Create and change links',
        'Each change can be undone in the activity of the link',
      ],
      'links:delete': ['Delete links', 'Their addresses stop working, and their clicks are erased'],
    } satisfies Readonly<Record<AssistantScope, readonly [string, string]>>,
    off: 'Off unless you tick it.',
    until: 'Until',
    days: (days: number, day: string) => `In ${count('day', 'days')(days)}, ${day}`,
    allow: 'Allow',
    nothing: 'Choose at least one.',
    unchecked: (name: string) =>
      `Terse cannot check who made ${name}. Allow it only if you have just started this yourself.`,
    published: (host: string) => `It says that it comes from ${host}.`,
    answers: {
      local: (place: string) => `It answers to a program on this computer, ${place}.`,
      app: (place: string) =>
        `It answers to an app on this computer that opens ${place} addresses.`,
      site: (place: string) => `It answers to ${place}.`,
      extension: (place: string) => `It answers at ${place}, in this browser.`,
    },
    withdrawable: 'You can withdraw this at any time under Settings, Connect.',
    unusable: 'This request cannot be granted.',
    unusableText:
      'The program has sent something that Terse does not accept. Nothing was allowed. Start again from the program; if it happens again, tell its makers this:',
    back: (place: string) => `Go back to ${place}`,
    noWorkspace: 'You are in no workspace in which it could work.',
    done: 'Allowed. You can close this page and go back to the program.',
    cancelled: 'Nothing was allowed. You can close this page.',
  },
}
