import type { domains as english } from '../en/domains.ts'
import { amountsIn, plural } from '../plural.ts'

const { n } = amountsIn('de')

const ABOVE = 'den Eintrag oben'

/** Worte der Seite der Domains. */
export const domains: typeof english = {
  title: 'Domains',
  all: 'Alle Domains',
  add: 'Domain hinzufügen',
  addTitle: 'Domain hinzufügen',
  host: 'Hostname',
  hostOfUrl: (host) => `Fügt ${host} hinzu: Eine Domain ist der Host allein.`,
  hostHint: 'Eine Subdomain wie go.example.com oder eine eigene Domain.',
  added: (host) => `${host} ist hinzugefügt. Setzen Sie nun die DNS-Einträge.`,
  detailsOf: (host) => `Einzelheiten zu ${host}`,
  actionsFor: (host) => `Aktionen für ${host}`,
  states: {
    active: 'Aktiv',
    pending: 'Ausstehend',
    missing: 'Nachweis fehlt',
    elsewhere: 'Anderswo aktiv',
  },
  certificateUntil: (day) => `Zertifikat bis ${day}`,
  noCertificate: 'Noch kein Zertifikat',
  inUseElsewhere: 'In einem anderen Arbeitsbereich aktiv',
  showLinks: 'Links zeigen',
  default: 'Standard',
  makeDefault: 'Neue Links hier beginnen',
  endDefault: 'Neue Links nicht hier beginnen',
  defaultChosen: (host: string) => `Neue Links beginnen auf ${host}.`,
  defaultEnded: 'Neue Links beginnen auf der Domain, die jede Person zuletzt verwendet hat.',
  emptyTitle: 'Eine eigene Domain verwenden',
  emptyHint:
    'Kurzlinks tragen dann Ihren Namen. Sie setzen zwei DNS-Einträge; alles andere geschieht hier.',
  steps: {
    label: (host) => `Fortschritt von ${host}`,
    ownership: 'Besitz',
    routing: 'Weg hierher',
    active: 'Aktiv',
    certificate: 'Zertifikat',
    proved: 'Nachgewiesen',
    notRequired: 'Nicht verlangt',
    waiting: 'Wartet auf den Eintrag',
    elsewhere: 'Führt woandershin',
    soon: 'Folgt in einer Minute',
    requested: 'Wird beantragt',
  },
  records: (host) => `DNS-Einträge von ${host}`,
  record: { state: 'Zustand', type: 'Typ', name: 'Name', value: 'Wert' },
  found: 'Gefunden',
  missing: 'Fehlt',
  wrong: 'Falsch',
  unknown: 'Unbekannt',
  alternative: 'Alternative',
  copyValue: (value) => `${value} kopieren`,
  noRecords: 'Diese Domain braucht keine DNS-Einträge.',
  advice: {
    txt_missing: () => `Legen Sie ${ABOVE} bei Ihrem DNS-Anbieter an.`,
    txt_different: () =>
      `Der TXT-Eintrag mit diesem Namen gehört zu einem anderen Arbeitsbereich oder einer anderen Domain. Legen Sie ${ABOVE} daneben an.`,
    txt_aliased: () =>
      `Dieser Name ist ein Alias (CNAME), vielleicht durch einen Wildcard-Eintrag, und ein Alias beweist nichts. Ersetzen Sie ihn durch ${ABOVE}.`,
    txt_unknown: () =>
      'Der DNS-Server hat nicht geantwortet. Die Abfrage wird wiederholt; bis dahin ändert sich nichts.',
    host_missing: ({ host }) => `${host} gibt es im DNS noch nicht. Legen Sie ${ABOVE} an.`,
    host_without_address: ({ host }) => `${host} hat keine Adresse. Legen Sie ${ABOVE} an.`,
    host_dangling: ({ host, found }) =>
      `${host} führt zu ${found}, und dieser Name hat keine Adresse. Ist er der Wert oben, muss der Betreiber dieses Dienstes das beheben; sonst ersetzen Sie ihn durch ${ABOVE}.`,
    host_looping: ({ host }) =>
      `${host} ist ein Alias, der zu sich selbst zurückführt. Ersetzen Sie ihn durch ${ABOVE}.`,
    host_too_many_aliases: ({ host }) =>
      `${host} führt über zu viele Aliase. Ersetzen Sie sie durch ${ABOVE}.`,
    host_proxied: ({ host }) =>
      `${host} liegt hinter einem Proxy; das DNS zeigt daher nicht, ob der Name hierher führt. Schalten Sie den Proxy für diesen Namen aus („nur DNS“) und legen Sie ${ABOVE} an.`,
    host_elsewhere: ({ host, found }) =>
      `${host} führt zu ${found}, und das ist nicht dieser Dienst. Löschen Sie jenen Eintrag und legen Sie dann ${ABOVE} an.`,
    host_unknown: ({ host }) =>
      `Die Adressen von ${host} konnten nicht abgefragt werden. Die Abfrage wird wiederholt; bis dahin ändert sich nichts.`,
    stray_address: ({ host, found }) =>
      `${host} führt zu ${found}. Nicht alle davon sind dieser Dienst, manche Besucher gehen also verloren: Löschen Sie die A- und AAAA-Einträge, die nicht hierher gehören.`,
    service_unknown: () =>
      'Die Adressen dieses Dienstes selbst sind nicht bekannt. Bleibt das so, muss der Betreiber TERSE_BASE_URL, TERSE_DNS_TARGET oder TERSE_PUBLIC_ADDRESSES setzen.',
    active_elsewhere: ({ host }) =>
      `${host} wird von einem anderen Arbeitsbereich verwendet, dessen TXT-Eintrag noch besteht. Entfernen Sie jenen Eintrag, um die Domain hierher zu holen.`,
  },
  lost: (since, until) =>
    `Der Nachweis fehlt seit ${since}. Links leiten weiter. Am ${until} wird die Domain ausstehend, und sie hören auf.`,
  lostNow: 'Der Nachweis fehlt. Links leiten noch sieben Tage weiter.',
  certificateProblem: (problem) => `Kein neues Zertifikat: ${problem}`,
  nextAttempt: (when) => `Nächster Versuch ${when}.`,
  check: 'Jetzt prüfen',
  checkedLately: (seconds) =>
    `Vor weniger als einer Minute geprüft. Wieder möglich in ${n(seconds)} ${plural('de', seconds, { one: 'Sekunde', other: 'Sekunden' })}.`,
  nextCheck: (when) => `Nächste Prüfung ${when}`,
  noNextCheck: 'Wird nur auf Wunsch geprüft',
  lastCheck: (when) => `Zuletzt geprüft ${when}`,
  activated: (host) => `${host} ist aktiv`,
  copyInstructions: 'Anleitung für Kollegen kopieren',
  instructions: (host) =>
    `Bitte diese DNS-Einträge setzen, damit ${host} für Kurzlinks verwendet werden kann:`,
  settings: 'Weiterleitungen und HTTPS',
  notFoundUrl: 'Wurzel und unbekannte Kürzel führen zu',
  notFoundHint: 'Leer: eine Seite „nicht gefunden“',
  expiredUrl: 'Abgelaufene Links führen zu',
  expiredHint: 'Leer: eine Seite „abgelaufen“; die eigene Adresse eines Links geht vor',
  hsts: 'Nur HTTPS (HSTS)',
  hstsHint:
    'So lange nach jedem Besuch lehnen Browser bei dieser Domain unverschlüsseltes HTTP ab.',
  hstsChoices: {
    off: 'Aus',
    '0': 'In Browsern beenden',
    '300': '5 Minuten',
    '86400': '1 Tag',
    '2592000': '30 Tage',
    '31536000': '1 Jahr',
    '63072000': '2 Jahre',
  },
  hstsOther: (seconds) => `${n(seconds)} Sekunden`,
  more: {
    title: 'Einstellungen',
    summary: 'Wurzel, Suchmaschinen, UTM, Regelsammlung, Conversions, Apps',
    root: 'Die bloße Domain führt zu',
    rootHint: 'Leer: wohin unbekannte Kürzel führen.',
    robots: 'Suchmaschinen',
    robotsHint: 'Worum /robots.txt und die Kopfzeile X-Robots-Tag sie bitten.',
    robotsChoices: {
      none: 'Wie üblich: Links folgen, keine aufnehmen',
      noindex: 'Links folgen, keine aufnehmen, auch per /robots.txt',
      index: 'Dürfen Links aufnehmen',
      disallow: 'Fernbleiben; auch Vorschauen vieler Netzwerke',
    },
    ruleSet: 'Regelsammlung als Vorgabe',
    ruleSetHint: 'Gilt zuletzt, nach den Regeln und der Regelsammlung jedes Links.',
    trackHint: 'Ein Token in Zielen, mit dem Ihr Server Bestellungen oder Anmeldungen meldet.',
    trackings: { '': 'Wie im Arbeitsbereich', on: 'An', off: 'Aus' },
    utm: 'UTM-Werte als Vorgabe',
    utmHint: 'Für Links und Ziele, die selbst keine haben.',
    apple: 'Apps für iPhone, iPad und Mac',
    appleHint: 'JSON, steht unter /.well-known/apple-app-site-association',
    android: 'Android-Apps',
    androidHint: 'JSON, steht unter /.well-known/assetlinks.json',
    badJson: (where) => `Das ist kein JSON: ${where}`,
    faultAt: (path, fault) => `${path}: ${fault}.`,
  },
  saved: (host) => `${host} ist geändert`,
  remove: 'Domain entfernen',
  removeTitle: (host) => `${host} entfernen?`,
  removeText: (links) =>
    `${links === 0 ? 'Sie hat keine Links.' : `${n(links)} ${plural('de', links, { one: 'Link leitet', other: 'Links leiten' })} sofort nicht mehr weiter.`} Links bleiben in der Liste und funktionieren wieder, wenn die Domain neu hinzugefügt und nachgewiesen ist.`,
  busiest: 'Meistbesuchter Link',
  removed: (host) => `${host} ist entfernt`,
}
