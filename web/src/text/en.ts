import * as account from './en/account.ts'
import * as analytics from './en/analytics.ts'
import * as connect from './en/connect.ts'
import * as conversions from './en/conversions.ts'
import * as domains from './en/domains.ts'
import * as imports from './en/imports.ts'
import * as links from './en/links.ts'
import * as managed from './en/managed.ts'
import * as settings from './en/settings.ts'
import * as tags from './en/tags.ts'
import * as webhooks from './en/webhooks.ts'
import type { FaultTexts } from './fault-text.ts'
import { amountsIn } from './plural.ts'

const { count, n } = amountsIn('en')

/**
 * All words of the dashboard in English. Every other language has the same entries, which the compiler
 * checks. One block for each page; words that several pages use are in `common`.
 */
export const en = {
  common: {
    add: 'Add',
    back: 'Back',
    cancel: 'Cancel',
    clear: 'Clear',
    close: 'Close',
    copied: 'Copied',
    copy: 'Copy',
    countedUntil: (time: string) => `Clicks are counted until ${time}`,
    delete: 'Delete',
    edit: 'Edit',
    loading: 'Loading',
    more: 'More',
    never: 'never',
    notCopied: 'The browser did not allow to copy.',
    none: 'None',
    notFound: 'There is nothing at this address.',
    problems: count('field has an error', 'fields have an error'),
    retry: 'Retry',
    save: 'Save',
    undo: 'Undo',
    unexpected: 'Something went wrong',
    changedMeanwhile: 'Another person has changed this meanwhile. Load the page again.',
    clicks: count('click', 'clicks'),
    links: count('link', 'links'),
  },
  shell: {
    main: 'Main',
    skip: 'Skip to content',
    links: 'Links',
    analytics: 'Analytics',
    domains: 'Domains',
    tags: 'Tags',
    createLink: 'Create link',
    search: 'Search links, or type a command',
    searchLabel: 'Search and commands',
    workspace: 'Workspace',
    account: 'Account',
    licences: 'Licences',
    signOut: 'Sign out',
    settings: 'Settings',
    theme: 'Theme',
    themes: { system: 'System', light: 'Light', dark: 'Dark' },
    language: 'Language',
    languageSystem: 'Language of the browser',
    useTheme: { light: 'Use light colours', dark: 'Use dark colours' },
    offline: 'No connection to the service.',
    unavailable: 'The service cannot answer now. Redirects continue.',
    nextTry: (seconds: number) => `Next try in ${n(seconds)} s.`,
    pageFailed: 'This page could not be shown.',
    pageFailedHint: 'The rest of the dashboard works. Redirects continue.',
    notifications: 'Notifications',
    noWorkspace: 'You are not a member of a workspace yet. Ask an administrator to invite you.',
  },
  shortcuts: {
    title: 'Keyboard shortcuts',
    list: 'Show this list',
    palette: 'Search and commands',
    search: 'Search',
    next: 'Next row',
    previous: 'Previous row',
    rows: 'From row to row',
    alongRow: 'Along a row',
    rowEnds: 'To the ends of a row',
    select: 'Select row',
    open: 'Open',
    copy: 'Copy short link',
    undo: 'Undo',
    save: 'Save',
    singleKeys: 'Single keys',
    singleKeysHint: 'Off when they get in the way of your screen reader or other tools.',
  },
  palette: {
    placeholder: 'Search links, or type a command',
    links: 'Links',
    commands: 'Commands',
    results: 'Results',
    none: (text: string) => `Nothing matches “${text}”.`,
    createTo: (url: string) => `Create link to ${url}`,
    move: 'move',
    openIt: 'open',
    allShortcuts: 'all shortcuts',
    actsOn: (link: string) => `With ${link}`,
    invite: 'Invite a person',
    also: { signOut: 'log out', invite: 'add member team', theme: 'mode' },
    acts: 'actions',
    keys: { copy: 'copy', edit: 'edit', analytics: 'analytics', destination: 'destination' },
    openDestination: 'Open destination',
    goTo: (page: string) => `Go to ${page}`,
    settings: (page: string) => `Settings: ${page}`,
    workspace: (name: string) => `Switch to ${name}`,
    domains: 'Domains',
    records: 'Copy DNS records',
    createOn: (host: string) => `Create link on ${host}`,
  },
  /** The API words its messages in English itself. */
  faults: null as FaultTexts | null,
  ...account,
  ...analytics,
  ...conversions,
  ...connect,
  ...domains,
  ...imports,
  ...links,
  ...settings,
  ...webhooks,
  ...managed,
  ...tags,
}

export type Catalogue = typeof en
