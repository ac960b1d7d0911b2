import * as account from './de/account.ts'
import * as analytics from './de/analytics.ts'
import * as connect from './de/connect.ts'
import * as conversions from './de/conversions.ts'
import * as domains from './de/domains.ts'
import { faults } from './de/faults.ts'
import * as imports from './de/imports.ts'
import * as links from './de/links.ts'
import * as managed from './de/managed.ts'
import * as settings from './de/settings.ts'
import * as tags from './de/tags.ts'
import * as webhooks from './de/webhooks.ts'
import type { Catalogue } from './en.ts'
import { amountsIn } from './plural.ts'

const { count, n } = amountsIn('de')

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
    countedUntil: (time) => `Klicks sind bis ${time} gezählt`,
    delete: 'Löschen',
    edit: 'Bearbeiten',
    loading: 'Lädt',
    more: 'Mehr',
    never: 'nie',
    notCopied: 'Der Browser hat das Kopieren nicht erlaubt.',
    none: 'Keine',
    notFound: 'Unter dieser Adresse gibt es nichts.',
    problems: count('Feld ist fehlerhaft', 'Felder sind fehlerhaft'),
    retry: 'Erneut versuchen',
    save: 'Speichern',
    undo: 'Rückgängig',
    unexpected: 'Etwas ist schiefgegangen',
    changedMeanwhile: 'Eine andere Person hat dies inzwischen geändert. Laden Sie die Seite neu.',
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
    licences: 'Lizenzen',
    signOut: 'Abmelden',
    settings: 'Einstellungen',
    theme: 'Farbschema',
    themes: { system: 'System', light: 'Hell', dark: 'Dunkel' },
    language: 'Sprache',
    languageSystem: 'Sprache des Browsers',
    useTheme: { light: 'Helle Farben verwenden', dark: 'Dunkle Farben verwenden' },
    offline: 'Keine Verbindung zum Dienst.',
    unavailable: 'Der Dienst kann gerade nicht antworten. Weiterleitungen laufen weiter.',
    nextTry: (seconds) => `Nächster Versuch in ${n(seconds)} s.`,
    pageFailed: 'Diese Seite konnte nicht angezeigt werden.',
    pageFailedHint: 'Alles andere funktioniert. Weiterleitungen laufen weiter.',
    notifications: 'Meldungen',
    noWorkspace:
      'Sie gehören noch zu keinem Arbeitsbereich. Bitten Sie eine Administratorin um eine Einladung.',
  },
  shortcuts: {
    title: 'Tastenkürzel',
    list: 'Diese Liste zeigen',
    palette: 'Suche und Befehle',
    search: 'Suchen',
    next: 'Nächste Zeile',
    previous: 'Vorherige Zeile',
    rows: 'Von Zeile zu Zeile',
    alongRow: 'Entlang einer Zeile',
    rowEnds: 'An die Enden einer Zeile',
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
    invite: 'Person einladen',
    also: { signOut: 'ausloggen', invite: 'Mitglied hinzufügen Team', theme: 'Modus Theme' },
    acts: 'Aktionen',
    keys: { copy: 'kopieren', edit: 'bearbeiten', analytics: 'Statistik', destination: 'Ziel' },
    openDestination: 'Ziel öffnen',
    goTo: (page) => `Gehe zu ${page}`,
    settings: (page) => `Einstellungen: ${page}`,
    workspace: (name) => `Zu ${name} wechseln`,
    domains: 'Domains',
    records: 'DNS-Einträge kopieren',
    createOn: (host) => `Link auf ${host} anlegen`,
  },
  faults,
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
