import type { PageTexts } from './page-texts.ts'

export const nl: PageTexts = {
  tag: 'nl',
  months: [
    'januari',
    'februari',
    'maart',
    'april',
    'mei',
    'juni',
    'juli',
    'augustus',
    'september',
    'oktober',
    'november',
    'december',
  ],
  day: (day, month, year) => `${day}\u00a0${month} ${year}`,
  wait: (seconds) => `over ${seconds}\u00a0${seconds === 1 ? 'seconde' : 'seconden'}`,
  notFound: {
    title: 'Er is geen link op dit adres',
    text: 'Controleer of het adres volledig en juist gespeld is. Heeft iemand het je gestuurd, vraag dan naar het huidige adres.',
  },
  unknownHost: {
    title: 'Dit domein is hier niet in gebruik',
    text: 'Het leidt naar deze server, maar is hier niet ingesteld, of de instelling is nog niet bevestigd.',
  },
  expired: {
    title: 'Deze link is verlopen',
    text: (date) =>
      `Hij is op ${date} (UTC) verlopen. Vraag degene die hem heeft gedeeld om een nieuwe.`,
  },
  upcoming: {
    title: 'Deze link is nog niet actief',
    text: (date) => `Hij werkt vanaf ${date} (UTC).`,
  },
  usedUp: {
    title: 'Deze link is opgebruikt',
    text: 'Hij werkt voor een beperkt aantal bezoeken, en die zijn allemaal gedaan. Vraag degene die hem heeft gedeeld om een nieuwe.',
  },
  preview: {
    title: 'Deze link gaat een beperkt aantal keren open',
    text: 'Programma’s die links controleren zien deze pagina, zodat ze hem niet opgebruiken. Ga verder om de link te openen.',
  },
  loop: {
    title: 'Deze link leidt in een kring',
    text: 'Hij leidt naar zichzelf terug en komt bij geen enkele pagina uit. Laat het weten aan degene die hem heeft gedeeld.',
  },
  password: {
    title: 'Deze link is beveiligd',
    text: 'Voer het wachtwoord in dat je hebt gekregen om door te gaan.',
    label: 'Wachtwoord',
    submit: 'Doorgaan',
    wrong: 'Dat wachtwoord is onjuist. Probeer het opnieuw.',
  },
  tooManyAttempts: {
    title: 'Te veel pogingen',
    text: (when) =>
      `Er zijn te veel onjuiste wachtwoorden ingevoerd. Je kunt het ${when} opnieuw proberen.`,
  },
  busy: {
    title: 'Veel mensen openen nu deze link',
    text: (when) =>
      `Je wachtwoord is nog niet gecontroleerd. Je kunt het ${when} opnieuw proberen.`,
  },
  unavailable: {
    title: 'Probeer het straks opnieuw',
    text: 'Deze link kan nu niet worden geopend. Het probleem ligt bij deze dienst, niet bij de link.',
  },
  elsewhere: {
    title: 'Deze server opent geen links',
    text: 'Het is een van meerdere servers, en dit verzoek was voor een andere bedoeld.',
  },
  invalidRequest: {
    title: 'Dit verzoek kan niet worden beantwoord',
    text: 'Het heeft een vorm die deze server niet accepteert.',
  },
  tryAgain: 'Opnieuw proberen',
}
