import type { faults } from '../../en/faults.ts'

/** Was zu keinem Feld gehört. */
export const requestFaults: typeof faults = {
  'This was changed since the version that If-Match names. Read it again, then send the change.':
    'Dies wurde inzwischen geändert. Laden Sie es neu, und ändern Sie es dann.',
  'This Idempotency-Key was used for a different request. Use a new key for each new request.':
    'Diese Anfrage wurde schon mit anderem Inhalt gesendet. Laden Sie die Seite neu, und versuchen Sie es erneut.',
  'must be 1 to 255 printable ASCII characters': 'muss 1 bis 255 druckbare ASCII-Zeichen haben',
  'is not honoured by this operation; leave it out':
    'gilt für diese Anfrage nicht; senden Sie sie ohne',
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
  'No token may do this. Sign in as an admin.':
    'Das kann kein Token. Melden Sie sich als Admin an.',
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
}
