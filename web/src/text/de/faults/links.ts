import type { faults } from '../../en/faults.ts'

/** Links, ihre Kürzel, UTM-Vorlagen und QR-Codes. */
export const linkFaults: typeof faults = {
  // Links und ihre Kürzel.
  'is taken on this domain': 'ist auf dieser Domain vergeben',
  'is reserved for the service itself on this domain':
    'ist auf dieser Domain dem Dienst selbst vorbehalten',
  'is reserved for operators of the service on this domain':
    'ist auf dieser Domain den Betreibern des Dienstes vorbehalten',
  'has {count} variants on this domain that differ only by letter case':
    'hat auf dieser Domain {count} Varianten, die sich nur in Groß- und Kleinschreibung unterscheiden',
  'may hold only letters, digits, emoji, "-", "_", ".", "~" and "/"':
    'darf nur Buchstaben, Ziffern, Emojis, „-“, „_“, „.“, „~“ und „/“ enthalten',
  'must not begin or end with "/" or hold "//"':
    'darf nicht mit „/“ beginnen oder enden und nicht „//“ enthalten',
  'must not hold a "." or ".." segment': 'darf keinen Abschnitt „.“ oder „..“ enthalten',
  'must not lead back to this link': 'darf nicht zu diesem Link zurückführen',
  'must not lead to a link that leads back to this one':
    'darf nicht zu einem Link führen, der zu diesem zurückführt',
  'must not lead back to this domain': 'darf nicht zu dieser Domain zurückführen',
  'must be an absolute URL such as https://example.com/page':
    'muss eine vollständige Adresse sein, etwa https://example.com/page',
  'must begin with {schemes}:': 'muss mit einem dieser Schemata beginnen: {schemes}:',
  'must have an address after {scheme}:': 'muss nach {scheme}: eine Adresse haben',
  'must not hold a user name or password': 'darf weder Benutzernamen noch Passwort enthalten',
  'is not available to this workspace': 'steht diesem Arbeitsbereich nicht zur Verfügung',
  'must be added to the workspace first, which needs the scope domains:write':
    'muss dem Arbeitsbereich zuerst hinzugefügt werden, wofür das Recht domains:write nötig ist',
  'must be added to the workspace first': 'muss dem Arbeitsbereich zuerst hinzugefügt werden',
  'must be added to the workspace first, by an admin':
    'muss zuerst von einem Admin dem Arbeitsbereich hinzugefügt werden',
  'is the sealed form of another password; send the text':
    'ist die versiegelte Form eines anderen Passworts; geben Sie das Passwort selbst ein',
  'must hold at most {max} tags': 'darf höchstens {max} Tags enthalten',
  'must hold at least one tag': 'braucht mindestens einen Tag',
  'would give the link more than {max} tags': 'gäbe dem Link mehr als {max} Tags',
  'must be narrower: there are too many tags to count':
    'muss enger sein: Es sind zu viele Tags, um sie zu zählen',
  'must not be both active and expired': 'kann nicht zugleich aktiv und abgelaufen sein',
  'takes too long among so many links; add a tag, or sort by created_at':
    'dauert bei so vielen Links zu lange; wählen Sie zusätzlich einen Tag, oder sortieren Sie nach Erstellung',
  'must be -created_at or created_at with a cursor':
    'muss mit Cursor -created_at oder created_at sein',
  'must not be sent together with cursor': 'darf nicht zusammen mit cursor gesendet werden',
  'is not a cursor of this list; begin with an empty one, and keep the other parameters':
    'ist kein Cursor dieser Liste; beginnen Sie die Liste von vorn',
  'is required for this action': 'fehlt für diese Aktion',
  'does not belong to this request': 'gehört nicht zu dieser Anfrage',

  // UTM-Vorlagen.
  'is the name of another template': 'ist der Name einer anderen Vorlage',
  'would be one of more than {max} templates; delete some':
    'wäre eine von mehr als {max} Vorlagen; löschen Sie einige',

  // QR-Codes.
  'must be a colour of the form #RRGGBB': 'muss eine Farbe der Form #RRGGBB sein',
  'is too pale to be scanned on white; choose a darker colour':
    'ist auf Weiß zu blass zum Scannen; wählen Sie eine dunklere Farbe',
  'must be a PNG in base64, with {prefix} in front':
    'muss ein PNG in Base64 sein, mit {prefix} davor',
  'must have at most {max} KiB': 'darf höchstens {max} KiB groß sein',
  'must have at most {width} × {height} pixels': 'darf höchstens {width} × {height} Pixel haben',
  'is not a valid PNG': 'ist kein gültiges PNG',
  'must not be an interlaced PNG': 'darf kein PNG mit Zeilensprung (interlaced) sein',
  'is too high for so long a link; choose a lower one':
    'ist für einen so langen Link zu hoch; wählen Sie eine niedrigere',
  'must be Q or H with a logo': 'muss mit einem Logo Q oder H sein',
}
