import { account } from './de/account.ts'
import { analytics } from './de/analytics.ts'
import { audit } from './de/audit.ts'
import { count, n } from './de/counts.ts'
import { domains } from './de/domains.ts'
import { faults } from './de/faults.ts'
import * as transfer from './de/imports.ts'
import { instance } from './de/instance.ts'
import { linkForm } from './de/link-form.ts'
import * as links from './de/links.ts'
import { live } from './de/live.ts'
import * as settings from './de/settings.ts'
import * as signIn from './de/sign-in.ts'
import { tags, utmTemplates } from './de/tags.ts'
import type { Catalogue } from './en.ts'

/** All words of the dashboard in German. */
export const de: Catalogue = {
  common: {
    add: 'Hinzufügen',
    back: 'Zurück',
    cancel: 'Abbrechen',
    clear: 'Leeren',
    close: 'Schließen',
    copied: 'Kopiert',
    copy: 'Kopieren',
    delete: 'Löschen',
    edit: 'Bearbeiten',
    loading: 'Lädt',
    more: 'Mehr',
    never: 'nie',
    none: 'Keine',
    notFound: 'Unter dieser Adresse gibt es nichts.',
    retry: 'Erneut versuchen',
    save: 'Speichern',
    undo: 'Rückgängig',
    unexpected: 'Etwas ist schiefgegangen',
    clicks: count('Klick', 'Klicks'),
    links: count('Link', 'Links'),
  },
  shell: {
    main: 'Hauptmenü',
    skip: 'Zum Inhalt springen',
    links: 'Links',
    analytics: 'Statistik',
    domains: 'Domains',
    tags: 'Tags',
    createLink: 'Link anlegen',
    search: 'Links suchen oder Befehl eingeben',
    searchLabel: 'Suche und Befehle',
    workspace: 'Arbeitsbereich',
    account: 'Konto',
    signOut: 'Abmelden',
    settings: 'Einstellungen',
    theme: 'Farbschema',
    themes: { system: 'System', light: 'Hell', dark: 'Dunkel' },
    language: 'Sprache',
    languageSystem: 'Sprache des Browsers',
    normal: 'Alles in Ordnung',
    offline: 'Keine Verbindung zum Dienst.',
    unavailable: 'Der Dienst kann gerade nicht antworten. Weiterleitungen laufen weiter.',
    nextTry: (seconds) => `Nächster Versuch in ${n(seconds)} s.`,
    pageFailed: 'Diese Seite konnte nicht angezeigt werden.',
    pageFailedHint: 'Alles andere funktioniert. Weiterleitungen laufen weiter.',
    notifications: 'Meldungen',
    noWorkspace:
      'Sie gehören noch zu keinem Arbeitsbereich. Bitten Sie eine Administratorin um eine Einladung.',
  },
  signIn: signIn.signIn,
  setUp: signIn.setUp,
  invitation: signIn.invitation,
  reset: signIn.reset,
  settings: settings.settings,
  workspace: settings.workspace,
  members: settings.members,
  tokens: settings.tokens,
  audit,
  account,
  instance,
  faults,
  imports: transfer.imports,
  exports: transfer.exports,
  shortcuts: {
    title: 'Tastenkürzel',
    list: 'Diese Liste zeigen',
    palette: 'Suche und Befehle',
    search: 'Suchen',
    next: 'Nächste Zeile',
    previous: 'Vorherige Zeile',
    select: 'Zeile auswählen',
    open: 'Öffnen',
    copy: 'Kurzlink kopieren',
    undo: 'Rückgängig',
    save: 'Speichern',
    singleKeys: 'Einzelne Tasten',
    singleKeysHint: 'Aus, wenn sie Ihren Screenreader oder andere Werkzeuge stören.',
  },
  palette: {
    placeholder: 'Links suchen oder Befehl eingeben',
    links: 'Links',
    commands: 'Befehle',
    results: 'Ergebnisse',
    none: (text) => `Nichts passt zu „${text}“.`,
    createTo: (url) => `Link zu ${url} anlegen`,
    move: 'bewegen',
    openIt: 'öffnen',
    allShortcuts: 'alle Kürzel',
    actsOn: (link) => `Mit ${link}`,
    openDestination: 'Ziel öffnen',
    goTo: (page) => `Gehe zu ${page}`,
  },
  links: links.links,
  domains,
  live,
  tags,
  utmTemplates,
  empty: links.empty,
  analytics,
  linkForm,
  qr: links.qr,
  link: links.link,
}
