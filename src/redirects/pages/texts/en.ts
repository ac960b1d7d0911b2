import type { PageTexts } from './page-texts.ts'

export const en: PageTexts = {
  tag: 'en',
  months: [
    'January',
    'February',
    'March',
    'April',
    'May',
    'June',
    'July',
    'August',
    'September',
    'October',
    'November',
    'December',
  ],
  // The month's name stands between day and year, so that readers of either order understand it.
  day: (day, month, year) => `${day}\u00a0${month} ${year}`,
  wait: (seconds) => `in ${seconds}\u00a0${seconds === 1 ? 'second' : 'seconds'}`,
  notFound: {
    title: 'There is no link at this address',
    text: 'Check that the address is complete and spelled correctly. If someone sent it to you, ask them for the current one.',
  },
  unknownHost: {
    title: 'This domain is not in use here',
    text: 'It leads to this server, but it has not been set up here, or its set-up has not been confirmed yet.',
  },
  expired: {
    title: 'This link has expired',
    text: (date) =>
      `It expired on ${date} (UTC). Ask the person who shared it with you for a new one.`,
  },
  upcoming: {
    title: 'This link is not active yet',
    text: (date) => `It starts to work on ${date} (UTC).`,
  },
  usedUp: {
    title: 'This link has been used up',
    text: 'It works for a limited number of visits, and all of them have been made. Ask the person who shared it with you for a new one.',
  },
  preview: {
    title: 'This link opens a limited number of times',
    text: 'Programs that check links see this page, so that they do not use it up. Continue to open the link.',
  },
  loop: {
    title: 'This link leads in circles',
    text: 'It leads back to itself and reaches no page. Tell the person who shared it with you.',
  },
  password: {
    title: 'This link is protected',
    text: 'Enter the password you were given to continue.',
    label: 'Password',
    submit: 'Continue',
    wrong: 'That password is incorrect. Please try again.',
  },
  tooManyAttempts: {
    title: 'Too many attempts',
    text: (when) => `Too many wrong passwords were entered. You can try again ${when}.`,
  },
  busy: {
    title: 'Many people are opening this link',
    text: (when) => `Your password has not been checked yet. You can try again ${when}.`,
  },
  unavailable: {
    title: 'Please try again in a moment',
    text: 'This link cannot be opened just now. The problem is with this service, not with the link.',
  },
  elsewhere: {
    title: 'This server does not open links',
    text: 'It is one of several, and this request was meant for another of them.',
  },
  invalidRequest: {
    title: 'This request cannot be answered',
    text: 'It is not in a form that this server accepts.',
  },
  tryAgain: 'Try again',
}
