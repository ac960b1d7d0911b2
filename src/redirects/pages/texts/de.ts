import type { PageTexts } from './page-texts.ts'

export const de: PageTexts = {
  tag: 'de',
  months: [
    'Januar',
    'Februar',
    'März',
    'April',
    'Mai',
    'Juni',
    'Juli',
    'August',
    'September',
    'Oktober',
    'November',
    'Dezember',
  ],
  day: (day, month, year) => `${day}.\u00a0${month} ${year}`,
  wait: (seconds) => `in ${seconds}\u00a0${seconds === 1 ? 'Sekunde' : 'Sekunden'}`,
  notFound: {
    title: 'Unter dieser Adresse gibt es keinen Link',
    text: 'Prüfen Sie, ob die Adresse vollständig und richtig geschrieben ist. Wenn Sie sie von jemandem erhalten haben, fragen Sie dort nach der aktuellen.',
  },
  unknownHost: {
    title: 'Diese Domain wird hier nicht verwendet',
    text: 'Sie führt zu diesem Server, ist hier aber nicht eingerichtet, oder ihre Einrichtung ist noch nicht bestätigt.',
  },
  expired: {
    title: 'Dieser Link ist abgelaufen',
    text: (date) =>
      `Er ist am ${date} (UTC) abgelaufen. Bitten Sie die Person, von der Sie ihn haben, um einen neuen.`,
  },
  upcoming: {
    title: 'Dieser Link führt noch nirgendwohin',
    text: (date) => `Er gilt ab dem ${date} (UTC).`,
  },
  usedUp: {
    title: 'Dieser Link ist aufgebraucht',
    text: 'Er lässt nur eine begrenzte Zahl von Aufrufen zu, und alle sind verbraucht. Bitten Sie die Person, von der Sie ihn haben, um einen neuen.',
  },
  preview: {
    title: 'Dieser Link lässt sich nur begrenzt oft öffnen',
    text: 'Programme, die Links prüfen, sehen diese Seite, damit sie ihn nicht aufbrauchen. Gehen Sie weiter, um den Link zu öffnen.',
  },
  loop: {
    title: 'Dieser Link führt im Kreis',
    text: 'Er führt zu sich selbst zurück und erreicht keine Seite. Sagen Sie der Person Bescheid, von der Sie ihn haben.',
  },
  password: {
    title: 'Dieser Link ist geschützt',
    text: 'Geben Sie das Passwort ein, das Sie erhalten haben.',
    label: 'Passwort',
    submit: 'Weiter',
    wrong: 'Das Passwort ist falsch. Bitte versuchen Sie es noch einmal.',
  },
  tooManyAttempts: {
    title: 'Zu viele Versuche',
    text: (when) =>
      `Es wurden zu viele falsche Passwörter eingegeben. Sie können es ${when} noch einmal versuchen.`,
  },
  busy: {
    title: 'Viele öffnen gerade diesen Link',
    text: (when) =>
      `Ihr Passwort wurde noch nicht geprüft. Sie können es ${when} noch einmal versuchen.`,
  },
  unavailable: {
    title: 'Bitte versuchen Sie es gleich noch einmal',
    text: 'Dieser Link lässt sich gerade nicht öffnen. Das liegt an diesem Dienst, nicht am Link.',
  },
  elsewhere: {
    title: 'Dieser Server öffnet keine Links',
    text: 'Er ist einer von mehreren, und diese Anfrage war für einen anderen bestimmt.',
  },
  invalidRequest: {
    title: 'Diese Anfrage kann nicht beantwortet werden',
    text: 'Sie hat eine Form, die dieser Server nicht annimmt.',
  },
  tryAgain: 'Noch einmal versuchen',
}
