import type * as en from '../en/sign-in.ts'

export const signIn: typeof en.signIn = {
  otherAddress: (here, baseUrl) =>
    `Diese Seite wurde unter ${here} geöffnet, aber die Adresse dieses Terse ist ${baseUrl}: Melden Sie sich dort an.`,
  changeAddress: (here) =>
    `Um stattdessen ${here} zu verwenden, setzen Sie TERSE_BASE_URL in den Einstellungen des Dienstes darauf und starten ihn neu.`,
  toAddress: (baseUrl) => `${baseUrl} öffnen`,
  title: 'Anmelden',
  expired: 'Ihre Sitzung ist beendet. Melden Sie sich an; Ihre Eingaben bleiben erhalten.',
  confirm: 'Bestätigen Sie Ihre Identität',
  confirmHint: 'Diese Änderung verlangt eine Anmeldung in den letzten zehn Minuten.',
  email: 'E-Mail',
  password: 'Passwort',
  showPassword: 'Passwort zeigen',
  hidePassword: 'Passwort verbergen',
  forgot: 'Vergessen?',
  code: 'Code',
  codeHint: 'Die sechs Ziffern, die Ihre Authenticator-App zeigt.',
  recoveryCode: 'Wiederherstellungscode',
  recoveryCodeHint: 'Einer der Codes, die Sie gesichert haben. Jeder gilt einmal.',
  useRecoveryCode: 'Wiederherstellungscode verwenden',
  useApp: 'Authenticator-App verwenden',
  usePasskey: 'Passkey verwenden',
  secondFactor: 'Zweiter Schritt',
  secondFactorHint: 'Ihr Passwort stimmt. Weisen Sie sich nun auf einem zweiten Weg aus.',
  passkey: 'Weiter mit einem Passkey',
  passkeyCancelled:
    'Es wurde kein Passkey verwendet. Versuchen Sie es erneut oder auf einem anderen Weg.',
  oidc: (name) => `Weiter mit ${name}`,
  orPassword: 'oder mit Passwort',
  or: 'oder',
  submit: 'Anmelden',
  continue: 'Weiter',
  noAccount: 'Kein Konto? Bitten Sie in Ihrem Arbeitsbereich um eine Einladung.',
  elsewhere:
    'Es öffnet sich ein weiterer Tab. Hier geht es weiter, sobald Sie dort angemeldet sind.',
  forgotTitle: 'Neues Passwort',
  forgotHint: 'Hat diese Adresse ein Konto, bekommt sie einen Link für ein neues Passwort.',
  forgotSubmit: 'Link senden',
  forgotSent: 'Hat ein Konto diese Adresse, ist eine E-Mail unterwegs. Ihr Link gilt eine Stunde.',
  forgotNoMail:
    'Diese Instanz versendet keine E-Mails. Bitten Sie in Ihrem Arbeitsbereich oder beim Betreiber um einen Link; der Betreiber kann auch einen ausgeben:',
  failures: {
    oidc_unavailable:
      'Der Anbieter ist nicht erreichbar. Versuchen Sie es erneut oder auf einem anderen Weg.',
    oidc_denied: 'Der Anbieter hat die Anmeldung abgelehnt.',
    oidc_expired:
      'Das hat zu lange gedauert oder wurde in einem anderen Browser begonnen. Versuchen Sie es erneut.',
    oidc_failed:
      'Die Antwort des Anbieters war nicht gültig. Der Betreiber findet Näheres im Protokoll.',
    oidc_unknown:
      'Niemand hier hat dieses Konto. Melden Sie sich anders an und verknüpfen Sie es in den Einstellungen, oder bitten Sie um eine Einladung.',
    oidc_linked_elsewhere: 'Dieses Konto gehört hier zu einer anderen Person.',
    oidc_session_ended:
      'Ihre Sitzung endete, bevor das Konto verknüpft war. Melden Sie sich an und versuchen Sie es erneut.',
    oidc_mailed_link:
      'Für ein neues Konto öffnen Sie den Link in der E-Mail an die eingeladene Adresse.',
    oidc_invitation: 'Diese Einladung wurde verwendet oder zurückgezogen oder ist abgelaufen.',
    oidc_address_taken:
      'Zu dieser Adresse gibt es schon eine Person. Melden Sie sich an und öffnen Sie dann die Einladung.',
    unavailable:
      'Die Anmeldung ist gerade nicht möglich. Weiterleitungen laufen weiter. Versuchen Sie es gleich noch einmal.',
    rate_limited: 'Zu viele Anfragen. Warten Sie eine Minute und versuchen Sie es dann erneut.',
    too_many_attempts:
      'Zu viele Versuche. Warten Sie eine Minute und versuchen Sie es dann erneut.',
  },
}

export const setUp: typeof en.setUp = {
  title: 'Diese Instanz einrichten',
  hint: 'Sie werden ihr Betreiber und Inhaber ihres Arbeitsbereichs. Es dauert keine Minute.',
  code: 'Einrichtungscode',
  codeHint: 'Das Ende des Links, der beim Start von Terse ausgegeben wurde.',
  codeFromLink: 'Aus Ihrem Link übernommen.',
  name: 'Ihr Name',
  email: 'E-Mail',
  password: 'Passwort',
  passwordAside: 'mindestens 15 Zeichen',
  strength: (have, need) => `${have} von ${need} Zeichen`,
  strong: 'Lang genug',
  submit: 'Konto anlegen',
  later: 'Einen Passkey oder eine Authenticator-App können Sie danach hinzufügen.',
  where: 'Wo Sie den Code finden',
  whereHint: 'Im Terminal oder im Protokoll des Dienstes, beim Start:',
  terminal: 'Ausgabe im Terminal mit dem Link zur Einrichtung',
  running: 'Terse is running',
  runningAt: 'at',
  nobody: 'Open the dashboard and set up the first person, within 24 hours:',
  yourCode: 'Ihr-Code',
  lost: 'Verloren oder älter als 24 Stunden? Geben Sie dort, wo Terse installiert ist, einen neuen Link aus:',
  copyCommand: 'Befehl kopieren',
  note: 'Das erste Konto verlangt diesen Code. Weiterleitungen und API laufen bereits.',
  done: 'Diese Instanz ist eingerichtet.',
}

export const invitation: typeof en.invitation = {
  title: 'Einladung',
  join: (workspace) => `${workspace} beitreten`,
  invited: (email, role) => `${email} ist eingeladen, Rolle: ${role}.`,
  noCode: 'Der Link ist unvollständig. Öffnen Sie ihn noch einmal so, wie Sie ihn bekommen haben.',
  unusable:
    'Diese Einladung wurde verwendet oder zurückgezogen oder ist abgelaufen. Bitten Sie um eine neue.',
  name: 'Ihr Name',
  password: 'Wählen Sie ein Passwort',
  create: 'Konto anlegen und beitreten',
  signInAs: (email) => `Melden Sie sich als ${email} an, um anzunehmen.`,
  haveAccount: 'Ich habe hier ein Konto',
  isNew: 'Ich bin neu hier',
  mailed: (email) => `Neu hier? Öffnen Sie den Link in der E-Mail an ${email}.`,
  accept: 'Einladung annehmen',
  otherPerson: (email, other) =>
    `Die Einladung ist für ${email}; Sie sind als ${other} angemeldet.`,
  signOut: (email) => `Abmelden und als ${email} fortfahren`,
  unproved: (email) =>
    `Noch ist nicht erwiesen, wem ${email} gehört; wer dieses Konto angelegt hat, kennt vielleicht das Passwort. Wählen Sie ein neues: Mit dem alten enden Sitzungen, Passkeys und alles andere, womit man sich hier anmeldet.`,
  joined: (workspace) => `Sie sind Mitglied von ${workspace}`,
}

export const reset: typeof en.reset = {
  title: 'Neues Passwort setzen',
  hint: 'Das beendet alle Sitzungen.',
  factorHint: 'Eine Authenticator-App bleibt, wie sie ist.',
  noCode: 'Der Link ist unvollständig. Öffnen Sie ihn noch einmal so, wie Sie ihn bekommen haben.',
  password: 'Neues Passwort',
  passwordAside: '15 Zeichen, oder 10 mit zweitem Faktor',
  submit: 'Passwort setzen',
  passkey: (name) => `Passkey „${name}“`,
  whose: 'Was davon gehört Ihnen?',
  whoseHint:
    'Damit meldet man sich hier ohne Passwort an. Was Sie nicht ankreuzen, wird entfernt; ein Passkey, der Ihr einziger zweiter Faktor ist, bleibt als solcher.',
  firstProof: (ways) =>
    `Dieser Link zeigt zum ersten Mal, dass die Adresse Ihnen gehört. Alles, was vorher eingerichtet wurde, wird entfernt: Authenticator-App, Wiederherstellungscodes, ${ways.length > 0 ? ways.join(', ') : 'Passkeys'}. Richten Sie neu ein, was Sie brauchen.`,
  done: 'Passwort geändert',
  doneHint: 'Melden Sie sich mit dem neuen an.',
}

export const firstLink: typeof en.firstLink = {
  tab: 'Ihr erster Link',
  title: 'Lange URL einfügen',
  toDashboard: 'Zum Dashboard',
  signedInAs: (name) => `Angemeldet als ${name}`,
  becomes: 'Daraus wird',
  letters: 'wenige-zeichen',
  shorten: 'Kürzen',
  later: 'Eigene Domain, andere Personen und alte Links können später kommen.',
  made: 'Ihr erster Kurzlink',
  next: 'Wie es weitergeht',
  steps: {
    domain: ['Eigene Domain verwenden', ', etwa go.example.com'],
    imports: ['Links mitbringen', ' von Bitly, Dub, Short.io und anderen'],
    programs: ['Aus eigenen Programmen kürzen', ' mit einem Token'],
  },
}
