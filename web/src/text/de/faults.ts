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
  'must have at most 63 characters': 'darf höchstens 63 Zeichen haben',
  'must have at most 100 characters': 'darf höchstens 100 Zeichen haben',
  'must have at most 254 characters': 'darf höchstens 254 Zeichen haben',
  'leads to a workspace of which you are a member':
    'führt in einen Arbeitsbereich, dessen Mitglied Sie sind',
}
