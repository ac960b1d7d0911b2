import type { AssistantScope } from '@terse/contract/assistants'
import type { Catalogue } from '../en.ts'
import { amountsIn } from '../plural.ts'

const { count } = amountsIn('de')

export const connect: Catalogue['connect'] = {
  hint: (workspace) => `Wie Programme und Assistenten die Links von ${workspace} erreichen.`,
  assistants: 'Assistenten',
  assistantsHint: 'Lassen Sie einen KI-Assistenten über MCP Links finden, anlegen und erklären.',
  mayConnect: 'Assistenten dürfen sich verbinden',
  off: 'Assistenten können sich nicht mit diesem Arbeitsbereich verbinden.',
  on: 'Assistenten können sich mit diesem Arbeitsbereich verbinden.',
  address: 'Adresse',
  copyAddress: 'Adresse kopieren',
  kind: 'Art des Assistenten',
  kinds: { file: 'Einstellungsdatei', command: 'Befehlszeile', token: 'Mit Token' },
  asks: 'Der Assistent öffnet diesen Browser, und Sie entscheiden, was er darf.',
  asksNot:
    'Für Assistenten, die keinen Browser öffnen können. Setzen Sie ein Token dieses Arbeitsbereichs ein.',
  copySettings: 'Einstellungen kopieren',
  allowed: 'Zugelassene Assistenten',
  none: 'Noch kein Assistent ist zugelassen.',
  used: (when) => `zuletzt ${when}`,
  neverUsed: 'nie benutzt',
  until: (when) => `bis ${when}`,
  withdraw: 'Entziehen',
  withdrawTitle: (name) => `${name} den Zugriff entziehen?`,
  withdrawText: 'Die nächste Anfrage wird abgelehnt. Was er angelegt hat, bleibt.',
  withdrawn: (name) => `${name} kann sich nicht mehr verbinden`,
  acts: {
    'links:read': 'findet Links',
    'clicks:read': 'liest Auswertungen',
    'links:write': 'legt Links an und ändert sie',
    'links:delete': 'löscht Links',
  } satisfies Readonly<Record<AssistantScope, string>>,
  services: 'Programme für andere Dienste',
  servicesHint:
    'Schalten Sie einen ein, und Terse antwortet wie dieser Dienst. Ändern Sie im Programm den Hostnamen, und geben Sie ihm einen Schlüssel.',
  serviceNames: {
    yourls: {
      name: 'YOURLS',
      clients: 'ShareX, Plugins und Skripte, mit Signatur-Token',
      serverFor: null,
    },
    kutt: {
      name: 'Kutt',
      clients: 'Seine Browser-Erweiterung und Pakete, API v2',
      serverFor: 'für die Browser-Erweiterung',
    },
    shlink: {
      name: 'Shlink',
      clients: 'Sein Web-Client und Pakete, REST v3',
      serverFor: 'für Web-Client und Pakete',
    },
    bitly: {
      name: 'Bitly',
      clients: 'Programme für die API v4',
      serverFor: 'für das npm-Paket',
    },
    polr: { name: 'Polr', clients: 'Programme für die API v2', serverFor: null },
  },
  server: 'Server',
  copyServer: 'Server kopieren',
  key: 'Schlüssel',
  keyHint: 'Wird einmal gezeigt. Schlüssel stehen unter Tokens und werden dort widerrufen.',
  createKey: 'Schlüssel anlegen',
  keyTitle: (name) => `Schlüssel für Programme von ${name}`,
  copyKey: 'Schlüssel kopieren',
  browser: 'In Ihrem Browser',
  browserHint: 'Als Sie angemeldet, mit Ihrer Rolle im Arbeitsbereich.',
  bookmark: 'Lesezeichen',
  bookmarkHint:
    'Öffnet einen neuen Link auf die Seite, die Sie lesen. Ziehen Sie es zu den Lesezeichen Ihres Browsers.',
  shorten: 'Kürzen',
  drag: 'Ziehen Sie es zu den Lesezeichen Ihres Browsers',
  extension: {
    title: 'Browser-Erweiterung',
    hint: 'Erstellt mit Alt + Umschalt + S einen Link auf die Seite, die Sie lesen. Sie wird aus den Quellen von Terse gebaut und von Hand in Chrome, Edge oder Firefox geladen: docs/browser-extension.md.',
    address: 'Adresse dieses Dienstes',
    copy: 'Adresse für die Erweiterung kopieren',
    signedIn: 'Mit der Erweiterung angemeldet',
    question: (workspace) => `Die Browser-Erweiterung mit Links von ${workspace} arbeiten lassen?`,
    actsAsYou:
      'Sie handelt in Ihrem Namen. Das Protokoll nennt Sie beide. Das Löschen braucht sie für „Rückgängig“.',
    unchecked:
      'Terse kann nicht prüfen, welche Erweiterung fragt. Lassen Sie es nur zu, wenn Sie gerade in der Erweiterung dieses Browsers „Anmelden“ gewählt haben.',
    notAllowed: 'Nichts wurde zugelassen.',
    answered: 'Zugelassen. Die Erweiterung meldet sich an.',
    stays:
      'Die Erweiterung schließt diese Seite. Bleibt sie stehen, öffnen Sie die Erweiterung und wählen Sie noch einmal „Anmelden“.',
  },
  consent: {
    title: 'Assistenten zulassen',
    question: (name, workspace) => `${name} mit Links von ${workspace} arbeiten lassen?`,
    actsAsYou: 'Er handelt als Sie. Das Protokoll nennt Sie beide.',
    notYou: 'Nicht Sie?',
    workspace: 'Arbeitsbereich',
    may: 'Er darf',
    scopes: {
      'links:read': ['Links finden und Besuche erklären', 'Ziele, Regeln, Tags, Domains'],
      'clicks:read': ['Auswertungen lesen', 'Klicks und Conversions, keine einzelnen Besucher'],
      'links:write': [
        'Links anlegen und ändern',
        'Jede Änderung lässt sich im Verlauf des Links rückgängig machen',
      ],
      'links:delete': [
        'Links löschen',
        'Ihre Adressen gehen nicht mehr, und ihre Klicks werden gelöscht',
      ],
    },
    off: 'Aus, solange Sie es nicht ankreuzen.',
    until: 'Bis',
    days: (days, day) => `In ${count('Tag', 'Tagen')(days)}, ${day}`,
    allow: 'Zulassen',
    nothing: 'Wählen Sie mindestens eines.',
    unchecked: (name) =>
      `Terse kann nicht prüfen, von wem ${name} stammt. Lassen Sie es nur zu, wenn Sie es gerade selbst begonnen haben.`,
    published: (host) => `Nach eigener Angabe kommt er von ${host}.`,
    answers: {
      local: (place) => `Er antwortet einem Programm auf diesem Computer, ${place}.`,
      app: (place) => `Er antwortet einer App auf diesem Computer, die ${place}-Adressen öffnet.`,
      site: (place) => `Er antwortet ${place}.`,
      extension: (place) => `Die Antwort geht an ${place}, in diesem Browser.`,
    },
    withdrawable: 'Sie können das jederzeit unter Einstellungen, Verbinden widerrufen.',
    unusable: 'Diese Anfrage kann nicht gewährt werden.',
    unusableText:
      'Das Programm hat etwas geschickt, das Terse nicht annimmt. Nichts wurde zugelassen. Beginnen Sie im Programm von vorn; geschieht es wieder, nennen Sie seinen Herstellern dies:',
    back: (place) => `Zurück zu ${place}`,
    noWorkspace: 'Sie sind in keinem Arbeitsbereich, in dem er arbeiten könnte.',
    done: 'Zugelassen. Sie können diese Seite schließen und zum Programm zurückkehren.',
    cancelled: 'Nichts wurde zugelassen. Sie können diese Seite schließen.',
  },
}
