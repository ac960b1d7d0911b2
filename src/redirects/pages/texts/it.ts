import type { PageTexts } from './page-texts.ts'

export const it: PageTexts = {
  tag: 'it',
  months: [
    'gennaio',
    'febbraio',
    'marzo',
    'aprile',
    'maggio',
    'giugno',
    'luglio',
    'agosto',
    'settembre',
    'ottobre',
    'novembre',
    'dicembre',
  ],
  day: (day, month, year) => `${day}\u00a0${month} ${year}`,
  wait: (seconds) => `tra ${seconds}\u00a0${seconds === 1 ? 'secondo' : 'secondi'}`,
  notFound: {
    title: 'A questo indirizzo non c’è nessun link',
    text: 'Controlla che l’indirizzo sia completo e scritto correttamente. Se te l’ha inviato qualcuno, chiedi quello aggiornato.',
  },
  unknownHost: {
    title: 'Questo dominio non è in uso qui',
    text: 'Porta a questo server, ma qui non è configurato o la sua configurazione non è ancora stata confermata.',
  },
  expired: {
    title: 'Questo link è scaduto',
    // Not within a sentence: the article before a day depends on the number (il 7, l’8).
    text: (date) =>
      `Data di scadenza: ${date} (UTC). Chiedine uno nuovo a chi l’ha condiviso con te.`,
  },
  upcoming: {
    title: 'Questo link non è ancora attivo',
    text: (date) => `Data di attivazione: ${date} (UTC).`,
  },
  usedUp: {
    title: 'Questo link è esaurito',
    text: 'Consente un numero limitato di visite, e sono state fatte tutte. Chiedine uno nuovo a chi l’ha condiviso con te.',
  },
  preview: {
    title: 'Questo link si apre un numero limitato di volte',
    text: 'I programmi che controllano i link vedono questa pagina, per non esaurirlo. Continua per aprire il link.',
  },
  loop: {
    title: 'Questo link gira a vuoto',
    text: 'Riporta a se stesso e non raggiunge nessuna pagina. Avvisa chi l’ha condiviso con te.',
  },
  password: {
    title: 'Questo link è protetto',
    text: 'Inserisci la password che hai ricevuto per continuare.',
    label: 'Password',
    submit: 'Continua',
    wrong: 'La password non è corretta. Riprova.',
  },
  tooManyAttempts: {
    title: 'Troppi tentativi',
    text: (when) => `Sono state inserite troppe password errate. Potrai riprovare ${when}.`,
  },
  busy: {
    title: 'Molte persone stanno aprendo questo link',
    text: (when) => `La tua password non è ancora stata verificata. Potrai riprovare ${when}.`,
  },
  unavailable: {
    title: 'Riprova tra poco',
    text: 'Al momento non è possibile aprire questo link. Il problema riguarda questo servizio, non il link.',
  },
  elsewhere: {
    title: 'Questo server non apre link',
    text: 'Fa parte di un gruppo di server e questa richiesta era destinata a un altro.',
  },
  invalidRequest: {
    title: 'Impossibile rispondere a questa richiesta',
    text: 'Questo server non ne accetta il formato.',
  },
  tryAgain: 'Riprova',
}
