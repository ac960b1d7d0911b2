import type * as en from '../en/faults.ts'

/** Meldungen der API. */
export const faults: typeof en.faults = {
  'is wrong, was used before or has expired': 'ist falsch, wurde verwendet oder ist abgelaufen',
  'is not needed: the first person has been set up':
    'ist nicht nötig: Die erste Person ist eingerichtet',
  'must not be empty': 'darf nicht leer sein',
  'must have at least 15 characters, or 10 once a second factor is set up':
    'braucht mindestens 15 Zeichen, oder 10 mit einem zweiten Faktor',
  'must have at least 10 characters': 'braucht mindestens 10 Zeichen',
  'must not be your name or e-mail address': 'darf nicht Ihr Name oder Ihre E-Mail-Adresse sein',
  'is too easy to guess; use more different characters':
    'ist zu leicht zu erraten; verwenden Sie mehr verschiedene Zeichen',
  'is one of the passwords that attackers try first':
    'gehört zu den Passwörtern, die Angreifer zuerst versuchen',
  'is wrong, or was used before': 'ist falsch oder wurde schon verwendet',
  'is not valid: it was used, replaced or has expired':
    'gilt nicht: Er wurde verwendet oder ersetzt oder ist abgelaufen',
  'cannot be taken from the last owner; make another member owner first':
    'Dem letzten Inhaber lässt sich die Rolle nicht nehmen; machen Sie zuerst ein anderes Mitglied zum Inhaber',
  'would leave the instance without an operator; name another one first':
    'Die Instanz hätte keinen Betreiber mehr; benennen Sie zuerst einen anderen',
  'The e-mail address or the password is wrong.': 'E-Mail-Adresse oder Passwort ist falsch.',
  'This passkey is not known here, or was asked for too long ago.':
    'Dieser Passkey ist hier nicht bekannt, oder die Anfrage ist zu alt.',
  'is not known here, or was asked for too long ago':
    'ist hier nicht bekannt, oder die Anfrage ist zu alt',
  'is wrong': 'ist falsch',
  'is wrong; check the clock of the device': 'ist falsch; prüfen Sie die Uhr des Geräts',
  'can allow no more than you may do': 'kann nicht mehr erlauben, als Sie dürfen',
  'is not valid: it was used or withdrawn, or has expired':
    'gilt nicht: Sie wurde verwendet oder zurückgezogen oder ist abgelaufen',
  'is that of a member': 'gehört einem Mitglied',
  'must be in the future': 'muss in der Zukunft liegen',
  'must be an e-mail address': 'muss eine E-Mail-Adresse sein',
  'must name at least one scope': 'braucht mindestens ein Recht',
  'leads to a workspace of which you are a member':
    'führt in einen Arbeitsbereich, dessen Mitglied Sie sind',

  // Für alle Felder.
  'is required': 'fehlt',
  'is invalid': 'ist nicht gültig',
  'is not a known field': 'ist kein bekanntes Feld',
  'must be a string': 'muss Text sein',
  'must be a boolean': 'muss wahr oder falsch sein',
  'must be a number': 'muss eine Zahl sein',
  'must be an int': 'muss eine ganze Zahl sein',
  'must be an integer of at most 2^53-1': 'muss eine ganze Zahl sein, höchstens 2^53-1',
  'must be an array': 'muss eine Liste sein',
  'must be an object': 'muss ein Objekt sein',
  'must be a record': 'muss ein Objekt sein',
  'must be true or false': 'muss wahr oder falsch sein',
  'must be one of {values}': 'muss einer dieser Werte sein: {values}',
  'must be a list of {values}, separated by commas':
    'muss eine Liste dieser Werte sein, durch Kommas getrennt: {values}',
  'must be a whole number from {min} to {max}': 'muss eine ganze Zahl von {min} bis {max} sein',
  'must be from {min} to {max}': 'muss von {min} bis {max} sein',
  'must be at least {min} for this link, level and margin':
    'muss für diesen Link, diese Stufe und diesen Rand mindestens {min} sein',
  'must have {min} to {max} characters': 'muss {min} bis {max} Zeichen haben',
  'must have at most {max} characters': 'darf höchstens {max} Zeichen haben',
  'must have at most {max} characters, or be a short link':
    'darf höchstens {max} Zeichen haben oder muss ein Kurzlink sein',
  'must not contain control characters': 'darf keine Steuerzeichen enthalten',
  'must be well-formed Unicode': 'muss gültiges Unicode sein',
  'must be sent at least once': 'muss mindestens einmal gesendet werden',
  'must be sent at most {max} times': 'darf höchstens {max}-mal gesendet werden',
  'must hold {min} to {max} items': 'muss {min} bis {max} Einträge enthalten',
  'must hold at most {max} pairs': 'darf höchstens {max} Paare enthalten',
  'must be an ISO 8601 instant with a zone, such as {example}':
    'muss ein Zeitpunkt nach ISO 8601 mit Zeitzone sein, etwa {example}',
  'must be before to': 'muss vor dem Ende liegen',
  'Too big: expected {type} to have <={max} {units}': 'ist zu lang: höchstens {max} sind erlaubt',
  'Too small: expected {type} to have >={min} {units}': 'ist zu kurz: mindestens {min} sind nötig',
  'Invalid UUID': 'ist keine UUID',
  'Invalid input': 'ist nicht gültig',
  'Invalid key in record': 'enthält einen Namen, der nicht gültig ist',

  // Links und ihre Kürzel.
  'is taken on this domain': 'ist auf dieser Domain vergeben',
  'is reserved for the service itself on this domain':
    'ist auf dieser Domain dem Dienst selbst vorbehalten',
  'has {count} variants on this domain that differ only by letter case':
    'hat auf dieser Domain {count} Varianten, die sich nur in Groß- und Kleinschreibung unterscheiden',
  'may hold only letters, digits, "-", "_", ".", "~" and "/"':
    'darf nur Buchstaben, Ziffern, „-“, „_“, „.“, „~“ und „/“ enthalten',
  'must not begin or end with "/" or hold "//"':
    'darf nicht mit „/“ beginnen oder enden und nicht „//“ enthalten',
  'must not hold a "." or ".." segment': 'darf keinen Abschnitt „.“ oder „..“ enthalten',
  'must not lead to {host}, which is served here':
    'darf nicht zu {host} führen: Diesen Host bedient der Dienst selbst',
  'must be an absolute URL such as https://example.com/page':
    'muss eine vollständige Adresse sein, etwa https://example.com/page',
  'must begin with {schemes}:': 'muss mit einem dieser Schemata beginnen: {schemes}:',
  'must not hold a user name or password': 'darf weder Benutzernamen noch Passwort enthalten',
  'is not available to this workspace': 'steht diesem Arbeitsbereich nicht zur Verfügung',
  'must be added to the workspace first': 'muss dem Arbeitsbereich zuerst hinzugefügt werden',
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

  // Domains.
  'must be a full host name with a dot, such as go.example.com':
    'muss ein vollständiger Hostname mit Punkt sein, etwa go.example.com',
  'must be a host name without scheme, port or path, such as go.example.com':
    'muss ein Hostname ohne Schema, Port und Pfad sein, etwa go.example.com',
  'must be a host name such as go.example.com': 'muss ein Hostname sein, etwa go.example.com',
  'must be a name, not an address': 'muss ein Name sein, keine IP-Adresse',
  'holds an international label that cannot be read':
    'enthält einen internationalen Namensteil, der sich nicht lesen lässt',
  'is a public suffix, under which others register names; use a name below it':
    'ist eine öffentliche Endung, unter der andere Namen registrieren; verwenden Sie einen Namen darunter',
  'is a name under .{suffix}, which public DNS does not have':
    'ist ein Name unter .{suffix}; diese Endung gibt es im öffentlichen DNS nicht',
  'is reserved: only the operator of this service can add it':
    'ist reserviert: Nur der Betreiber dieses Dienstes kann die Domain hinzufügen',
  'is the host of this service, shared by all':
    'ist der Host dieses Dienstes, den alle gemeinsam verwenden',
  'has been added before': 'wurde bereits hinzugefügt',
  'has been added before, or still has links of its own in this workspace':
    'wurde bereits hinzugefügt oder hat in diesem Arbeitsbereich noch eigene Links',
  'A domain is checked on demand once a minute at most.':
    'Eine Domain wird auf Wunsch höchstens einmal in der Minute geprüft.',

  // Kontingente.
  'has reached its quota of {limit} links; delete links, or ask the operator of this service for a higher quota':
    'Das Kontingent von {limit} Links ist erreicht; löschen Sie Links, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  'has reached its quota of {limit} bytes of links; delete or shorten links, or ask the operator of this service for a higher quota':
    'Das Kontingent von {limit} Byte für Links ist erreicht; löschen oder kürzen Sie Links, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  'has reached its quota of {limit} domains; delete domains, or ask the operator of this service for a higher quota':
    'Das Kontingent von {limit} Domains ist erreicht; entfernen Sie Domains, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  'has reached its quota of {limit} pending domains; prove or delete pending domains, or ask the operator of this service for a higher quota':
    'Das Kontingent von {limit} ausstehenden Domains ist erreicht; weisen Sie ausstehende Domains nach oder entfernen Sie sie, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  'This workspace has reached its quota of {limit} requests per minute. Send fewer, or ask the operator of this service for a higher quota.':
    'Dieser Arbeitsbereich hat sein Kontingent von {limit} Anfragen pro Minute erreicht. Senden Sie weniger, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent.',

  // Importe und Exporte.
  'cannot be read: {max} imports have not ended; cancel one':
    'lässt sich nicht lesen: {max} Importe sind noch nicht beendet; brechen Sie einen ab',
  'is one too many: {max} imports with files have not ended; cancel one':
    'ist eine zu viel: {max} Importe mit Dateien sind noch nicht beendet; brechen Sie einen ab',
  'is not needed for {source}': 'ist für {source} nicht nötig',
  'was taken: the import has begun': 'wurde übernommen: Der Import hat begonnen',
  'is failed, and its token was removed: create another':
    'Der Import ist gescheitert, und sein Token wurde entfernt: Legen Sie einen neuen an',
  'is failed: it goes on as it began, or is cancelled':
    'Der Import ist gescheitert: Er geht so weiter, wie er begann, oder wird abgebrochen',
  'is {status}: it cannot be started': 'Der Import lässt sich in diesem Zustand nicht starten',
  'has changed: it cannot be started':
    'Der Import hat sich inzwischen geändert und lässt sich nicht starten',
  'must be sent first': 'muss zuerst gesendet werden',
  'is too far: a file has at most {max} bytes': 'ist zu weit: Eine Datei hat höchstens {max} Byte',
  'must be {size} here, where the part before ends':
    'muss hier {size} sein, wo der vorige Teil endet',
  'needs a file': 'braucht eine Datei',
  'needs an address, such as https://links.example.com':
    'braucht eine Adresse, etwa https://links.example.com',
  'needs a token': 'braucht ein Token',
  'must be an address such as https://links.example.com':
    'muss eine Adresse sein, etwa https://links.example.com',
  'must be a time zone such as Europe/Berlin': 'muss eine Zeitzone sein, etwa Europe/Berlin',
  'works only with format=ndjson': 'geht nur mit format=ndjson',

  // Statistik und Protokoll.
  'must not be later than now': 'darf nicht in der Zukunft liegen',
  'must be at most {days} days before to': 'darf höchstens {days} Tage vor dem Ende liegen',
  'must be a date such as 2026-11-01, or an instant such as 2026-11-01T09:30:00Z':
    'muss ein Datum sein, etwa 2026-11-01, oder ein Zeitpunkt, etwa 2026-11-01T09:30:00Z',
  'must be in the years {first} to {last}': 'muss in den Jahren {first} bis {last} liegen',
  'must be the name of an IANA time zone, such as Europe/Berlin':
    'muss eine Zeitzone der IANA sein, etwa Europe/Berlin',
  'would make {count} points for {values} values; there can be {max} in one answer':
    'ergäbe {count} Punkte für {values} Werte; in einer Antwort sind {max} möglich',
  'would make {count} points; there can be {max} in one answer':
    'ergäbe {count} Punkte; in einer Antwort sind {max} möglich',
  'cannot be had for {names}: single clicks {why}':
    'Dafür braucht es einzelne Klicks, und davon gibt es in diesem Zeitraum zu viele oder nicht mehr alle; wählen Sie weniger Tage oder nur eine Eigenschaft',
  'cannot be had for {names} together: single clicks {why}':
    'Dafür braucht es einzelne Klicks, und davon gibt es in diesem Zeitraum zu viele oder nicht mehr alle; wählen Sie weniger Tage oder nur eine Eigenschaft',
  'takes too long among so many events; set from and to closer together':
    'dauert bei so vielen Ereignissen zu lange; wählen Sie einen kürzeren Zeitraum',

  // Was zu keinem Feld gehört.
  'This was changed since the version that If-Match names. Read it again, then send the change.':
    'Dies wurde inzwischen geändert. Laden Sie es neu, und ändern Sie es dann.',
  'This Idempotency-Key was used for a different request. Use a new key for each new request.':
    'Diese Anfrage wurde schon mit anderem Inhalt gesendet. Laden Sie die Seite neu, und versuchen Sie es erneut.',
  'must be 1 to 255 printable ASCII characters': 'muss 1 bis 255 druckbare ASCII-Zeichen haben',
  'This workspace has sent 1 GiB of requests with an Idempotency-Key within a day. Send them without it, or later.':
    'Dieser Arbeitsbereich hat an einem Tag zu viele Daten gesendet. Versuchen Sie es später erneut.',
  'Too many {work} are waiting for you. Try again in {seconds} s.':
    'Von Ihnen warten schon zu viele Anfragen. Versuchen Sie es in {seconds} s erneut.',
  'The service is busy with {work}. Try again in {seconds} s.':
    'Der Dienst ist ausgelastet. Versuchen Sie es in {seconds} s erneut.',
  'The database is not available at the moment.': 'Die Datenbank ist gerade nicht erreichbar.',
  'The work was interrupted. Send the request again.':
    'Die Arbeit wurde unterbrochen. Versuchen Sie es erneut.',
  'Something went wrong on our side. Please report request {id}.':
    'Beim Dienst ist ein Fehler aufgetreten. Bitte melden Sie die Anfrage {id}.',
  'The service answered {status}.': 'Der Dienst hat mit {status} geantwortet.',
  'The request is not in a form that this server accepts.':
    'Die Anfrage hat keine Form, die dieser Dienst annimmt.',
  'Send the body as JSON, with the header Content-Type: application/json.':
    'Die Anfrage muss JSON enthalten.',
  'The body is not valid JSON.': 'Die Anfrage ist kein gültiges JSON.',
  'The body is larger than {max} KiB.': 'Die Anfrage ist größer als {max} KiB.',
  'If-Match must be * or entity tags as in ETag, with their quotes.':
    'Die Anfrage nennt keine gültige Fassung. Laden Sie die Seite neu.',
  'There is nothing at this address.': 'Unter dieser Adresse gibt es nichts.',
  'Use one of {methods}.': 'Diese Anfrage gibt es hier nicht. Möglich sind: {methods}.',
  'This session has ended. Sign in again.': 'Diese Sitzung ist beendet. Melden Sie sich erneut an.',
  'This session has ended.': 'Diese Sitzung ist beendet.',
  'Confirm that it is you: send your password or a passkey to /api/v1/session/authenticate, then send this request again.':
    'Bestätigen Sie mit Ihrem Passwort oder einem Passkey, dass Sie es sind, und versuchen Sie es erneut.',
  'Send the header Terse-Workspace with the identifier of a workspace; GET /api/v1/session lists yours.':
    'Die Anfrage nennt keinen Arbeitsbereich. Laden Sie die Seite neu.',
  'Send a token in the header Authorization: Bearer <token>.':
    'Sie sind nicht angemeldet. Melden Sie sich an.',
  'The Authorization header must be: Bearer <token>.':
    'Sie sind nicht angemeldet. Melden Sie sich an.',
  'This token lacks the scope {scope}.': 'Diesem Token fehlt das Recht {scope}.',
  'This is for people who are signed in. A token cannot do it.':
    'Das können nur angemeldete Personen, kein Token.',
  'This is for operators of the instance.': 'Das können nur Betreiber der Instanz.',
  'This needs the role viewer in the workspace.':
    'Dafür brauchen Sie im Arbeitsbereich die Rolle Betrachter.',
  'This needs the role member in the workspace.':
    'Dafür brauchen Sie im Arbeitsbereich die Rolle Mitglied.',
  'This needs the role admin in the workspace.':
    'Dafür brauchen Sie im Arbeitsbereich die Rolle Admin.',
  'This needs the role owner in the workspace.':
    'Dafür brauchen Sie im Arbeitsbereich die Rolle Inhaber.',
  'No token may do this. Sign in as an owner.':
    'Das kann kein Token. Melden Sie sich als Inhaber an.',
  'With a session, changes must come from pages of {address}. A program without a browser sends the header Origin: {origin}.':
    'Änderungen müssen von Seiten unter {address} kommen. Öffnen Sie das Dashboard dort.',
  'This request must come from a page of {address}.':
    'Diese Anfrage muss von einer Seite unter {address} kommen. Öffnen Sie das Dashboard dort.',
  'Link not found.': 'Diesen Link gibt es nicht.',
  'Domain not found.': 'Diese Domain gibt es nicht.',
  'Domain {host} not found.': 'Die Domain {host} gibt es nicht.',
  'UTM template not found.': 'Diese UTM-Vorlage gibt es nicht.',
  'Import not found.': 'Diesen Import gibt es nicht.',
  'Workspace not found.': 'Diesen Arbeitsbereich gibt es nicht.',
  'Workspace "{name}" not found.': 'Den Arbeitsbereich „{name}“ gibt es nicht.',
  'Member not found.': 'Dieses Mitglied gibt es nicht.',
  'Invitation not found.': 'Diese Einladung gibt es nicht.',
  'Person not found.': 'Diese Person gibt es nicht.',
  'Person "{email}" not found.': 'Die Person „{email}“ gibt es nicht.',
  'Session "{id}" not found.': 'Diese Sitzung gibt es nicht.',
  'Token "{id}" not found.': 'Dieses Token gibt es nicht.',
  'Passkey not found.': 'Diesen Passkey gibt es nicht.',
  'Authenticator app not found.': 'Diese Authenticator-App gibt es nicht.',
  'Identity not found.': 'Dieses verknüpfte Konto gibt es nicht.',

  // Personen, Anmeldung und Tokens.
  'must have at least {min} characters': 'braucht mindestens {min} Zeichen',
  'must be 1 to 63 lower-case letters, digits and hyphens, such as acme':
    'muss aus 1 bis 63 Kleinbuchstaben, Ziffern und Bindestrichen bestehen, etwa acme',
  'must be before the year 2255; leave it out for never':
    'muss vor dem Jahr 2255 liegen; lassen Sie es leer, wenn das Token nicht ablaufen soll',
  'can allow no more than you may do; leave out {scopes}':
    'kann nicht mehr erlauben, als Sie dürfen; lassen Sie {scopes} weg',
  'has no set-up to confirm; begin with POST /api/v1/me/totp':
    'Es gibt keine Einrichtung zu bestätigen; beginnen Sie von vorn',
  'has fewer than 15 characters, which needs a second factor. Set a longer password first, or set up another second factor.':
    'Ihr Passwort hat weniger als 15 Zeichen und braucht einen zweiten Faktor. Setzen Sie zuerst ein längeres Passwort, oder richten Sie einen anderen zweiten Faktor ein.',
  'does not answer the last options of this browser; request new ones':
    'passt nicht zur letzten Anfrage dieses Browsers; versuchen Sie es erneut',
  'is one too many; delete one of your {max} passkeys first':
    'ist einer zu viel; löschen Sie zuerst einen Ihrer {max} Passkeys',
  'is a passkey that was added before': 'ist ein Passkey, der bereits hinzugefügt wurde',
  'cannot be used: browsers make none for an IP address, and TERSE_BASE_URL has one in place of a name':
    'geht hier nicht: Für eine IP-Adresse legen Browser keine Passkeys an, und TERSE_BASE_URL hat eine statt eines Namens',
  'cannot be used: this instance sends no mail. Ask an admin for a link.':
    'geht hier nicht: Diese Instanz sendet keine E-Mails. Bitten Sie einen Admin um einen Link.',
  'cannot be deleted: the instance would have no operator; name another one first':
    'Die Instanz hätte keinen Betreiber mehr; benennen Sie zuerst einen anderen',
  'cannot be deleted: the workspace {name} would have no owner; make another member owner, or delete the workspace, first':
    'Der Arbeitsbereich {name} hätte keinen Inhaber mehr; machen Sie zuerst ein anderes Mitglied zum Inhaber, oder löschen Sie den Arbeitsbereich',
  'cannot be invited: {max} invitations are open':
    'lässt sich nicht einladen: {max} Einladungen sind offen',
  'is your last way to sign in; set a password first':
    'ist Ihr letzter Weg, sich anzumelden; setzen Sie zuerst ein Passwort',
  'is for {invited}; you are signed in as {person}':
    'gilt für {invited}; Sie sind als {person} angemeldet',
  'is for new people; you are signed in': 'ist für neue Personen; Sie sind angemeldet',
  'is required of a new person; sign in first where you have an account':
    'fehlt; wenn Sie schon ein Konto haben, melden Sie sich zuerst an',
  'Sign in as {email} to accept this invitation.':
    'Melden Sie sich als {email} an, um diese Einladung anzunehmen.',
  'This workspace has sent {max} invitations within the hour.':
    'Dieser Arbeitsbereich hat in der letzten Stunde {max} Einladungen versendet.',
  'This person can do more than what is in this workspace, so an operator of the instance has to make the link.':
    'Diese Person darf mehr als das in diesem Arbeitsbereich; den Link muss ein Betreiber der Instanz anlegen.',
  'This instance has no single sign-on (TERSE_OIDC_ISSUER).':
    'Diese Instanz hat kein Single Sign-on (TERSE_OIDC_ISSUER).',
  'The provider of single sign-on cannot be reached. Try again.':
    'Der Anbieter für Single Sign-on ist nicht erreichbar. Versuchen Sie es erneut.',
  'Too many attempts to sign in.': 'Zu viele Versuche, sich anzumelden.',
  'Too many attempts were wrong. Try again in {seconds} seconds.':
    'Zu viele falsche Versuche. Versuchen Sie es in {seconds} Sekunden erneut.',
  'Too many wrong codes. Try again in {seconds} s.':
    'Zu viele falsche Codes. Versuchen Sie es in {seconds} s erneut.',
  'Too many requests for a new password.': 'Zu viele Anfragen nach einem neuen Passwort.',
  'Too many people ask for a new password at the moment.':
    'Gerade fordern zu viele Personen ein neues Passwort an.',
  'Send the same request with a second factor: {fields}.': 'Dafür ist ein zweiter Faktor nötig.',
  'The {field} is wrong, or was used before.': 'Der Code ist falsch oder wurde schon verwendet.',
  'This token has expired.': 'Dieses Token ist abgelaufen.',
  'This is not a valid token.': 'Dieses Token gilt nicht.',
}
