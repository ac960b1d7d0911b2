import type { PageTexts } from './page-texts.ts'

/** A word of one letter must not end a line in Polish: a no-break space follows it. */
export const pl: PageTexts = {
  tag: 'pl',
  months: [
    'stycznia',
    'lutego',
    'marca',
    'kwietnia',
    'maja',
    'czerwca',
    'lipca',
    'sierpnia',
    'września',
    'października',
    'listopada',
    'grudnia',
  ],
  day: (day, month, year) => `${day}\u00a0${month} ${year}`,
  wait: (seconds) => `za ${seconds}\u00a0${secondsWord(seconds)}`,
  notFound: {
    title: 'Pod tym adresem nie ma linku',
    text: 'Sprawdź, czy adres jest kompletny i\u00a0poprawnie zapisany. Jeśli ktoś Ci go przysłał, poproś o\u00a0aktualny.',
  },
  unknownHost: {
    title: 'Ta domena nie jest tu używana',
    text: 'Prowadzi do tego serwera, ale nie została tu skonfigurowana albo jej konfiguracja nie została jeszcze potwierdzona.',
  },
  expired: {
    title: 'Ten link wygasł',
    text: (date) => `Wygasł ${date} (UTC). Poproś o\u00a0nowy osobę, która go udostępniła.`,
  },
  upcoming: {
    title: 'Ten link nie jest jeszcze aktywny',
    text: (date) => `Zacznie działać ${date} (UTC).`,
  },
  usedUp: {
    title: 'Ten link został wykorzystany',
    text: 'Działa tylko dla ograniczonej liczby wizyt, a\u00a0wszystkie już się odbyły. Poproś o\u00a0nowy osobę, która go udostępniła.',
  },
  preview: {
    title: 'Ten link można otworzyć ograniczoną liczbę razy',
    text: 'Programy sprawdzające linki widzą tę stronę, aby go nie wykorzystać. Przejdź dalej, aby otworzyć link.',
  },
  loop: {
    title: 'Ten link prowadzi w\u00a0kółko',
    text: 'Wraca do siebie i\u00a0nie prowadzi do żadnej strony. Powiadom osobę, która go udostępniła.',
  },
  password: {
    title: 'Ten link jest chroniony',
    text: 'Aby przejść dalej, wpisz otrzymane hasło.',
    label: 'Hasło',
    submit: 'Dalej',
    wrong: 'Hasło jest nieprawidłowe. Spróbuj ponownie.',
  },
  tooManyAttempts: {
    title: 'Zbyt wiele prób',
    text: (when) =>
      `Zbyt wiele razy wpisano nieprawidłowe hasło. Możesz spróbować ponownie ${when}.`,
  },
  busy: {
    title: 'Ten link otwiera teraz wiele osób',
    text: (when) =>
      `Twoje hasło nie zostało jeszcze sprawdzone. Możesz spróbować ponownie ${when}.`,
  },
  unavailable: {
    title: 'Spróbuj ponownie za chwilę',
    text: 'Tego linku nie można teraz otworzyć. Problem leży po stronie tej usługi, a\u00a0nie linku.',
  },
  elsewhere: {
    title: 'Ten serwer nie otwiera linków',
    text: 'Jest jednym z\u00a0kilku, a\u00a0to żądanie było przeznaczone dla innego.',
  },
  invalidRequest: {
    title: 'Nie można odpowiedzieć na to żądanie',
    text: 'Ten serwer nie przyjmuje żądań w\u00a0takiej postaci.',
  },
  tryAgain: 'Spróbuj ponownie',
}

function secondsWord(seconds: number): string {
  if (seconds === 1) return 'sekundę'
  const isFew = [2, 3, 4].includes(seconds % 10) && ![12, 13, 14].includes(seconds % 100)
  return isFew ? 'sekundy' : 'sekund'
}
