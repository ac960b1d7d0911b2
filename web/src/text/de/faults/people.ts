import type { faults } from '../../en/faults.ts'

/** Personen, Anmeldung und Tokens. */
export const peopleFaults: typeof faults = {
  'must not hold a web address; if it holds none, write a space after dots':
    'darf keine Internetadresse enthalten; falls es keine ist, setzen Sie nach Punkten ein Leerzeichen',
  'must have at least {min} characters': 'braucht mindestens {min} Zeichen',
  'must be 1 to 63 lower-case letters, digits and hyphens, such as acme':
    'muss aus 1 bis 63 Kleinbuchstaben, Ziffern und Bindestrichen bestehen, etwa acme',
  'must be no later than {end}, when the token that creates it expires':
    'darf nicht nach {end} liegen: Dann läuft das Token ab, das dieses anlegt',
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
  'is your own; set a new password in your account':
    'ist Ihr eigenes Konto; setzen Sie dort ein neues Passwort',
  'is your last way to sign in; set a password first':
    'ist Ihr letzter Weg, sich anzumelden; setzen Sie zuerst ein Passwort',
  'is named in the settings of single sign-on; an operator of the instance renames it':
    'steht in den Einstellungen für Single Sign-on; nur Betreiber der Instanz benennen um',
  'is required, a new one: your address is not proved, so whoever made this account may know the old one':
    'muss neu sein: Ihre Adresse ist nicht erwiesen; wer dieses Konto angelegt hat, kennt vielleicht das alte',
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
  'A higher role would end all access of this person, whose address is not proved: who may make the link for a new password has to give it.':
    'Ein höheres Recht würde jeden Zugang dieser Person beenden, deren Adresse nicht nachgewiesen ist: Geben kann es, wer auch den Link für ein neues Passwort anlegen darf.',
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

  // Was ihre Felder betrifft.
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
  'does not create an account: open the link in the mail to {email}, or sign in first where you have an account':
    'legt kein Konto an: Öffnen Sie den Link in der Mail an {email}, oder melden Sie sich zuerst an, wenn Sie ein Konto haben',
  'leads to a workspace of which you are a member':
    'führt in einen Arbeitsbereich, dessen Mitglied Sie sind',
}
