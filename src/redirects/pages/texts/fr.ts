import type { PageTexts } from './page-texts.ts'

export const fr: PageTexts = {
  tag: 'fr',
  months: [
    'janvier',
    'février',
    'mars',
    'avril',
    'mai',
    'juin',
    'juillet',
    'août',
    'septembre',
    'octobre',
    'novembre',
    'décembre',
  ],
  // Only the first of a month is an ordinal.
  day: (day, month, year) => `${day === 1 ? '1er' : day}\u00a0${month} ${year}`,
  wait: (seconds) => `dans ${seconds}\u00a0${seconds < 2 ? 'seconde' : 'secondes'}`,
  notFound: {
    title: 'Il n’y a pas de lien à cette adresse',
    text: 'Vérifiez que l’adresse est complète et bien orthographiée. Si quelqu’un vous l’a envoyée, demandez-lui l’adresse actuelle.',
  },
  unknownHost: {
    title: 'Ce domaine n’est pas utilisé ici',
    text: 'Il mène à ce serveur, mais il n’y est pas configuré, ou sa configuration n’est pas encore confirmée.',
  },
  expired: {
    title: 'Ce lien a expiré',
    text: (date) =>
      `Il a expiré le ${date} (UTC). Demandez-en un nouveau à la personne qui vous l’a transmis.`,
  },
  upcoming: {
    title: 'Ce lien n’est pas encore actif',
    text: (date) => `Il fonctionnera à partir du ${date} (UTC).`,
  },
  usedUp: {
    title: 'Ce lien est épuisé',
    text: 'Il permet un nombre limité de visites, et toutes ont été faites. Demandez-en un nouveau à la personne qui vous l’a transmis.',
  },
  preview: {
    title: 'Ce lien s’ouvre un nombre limité de fois',
    text: 'Les programmes qui vérifient les liens voient cette page, afin de ne pas l’épuiser. Continuez pour ouvrir le lien.',
  },
  loop: {
    title: 'Ce lien tourne en rond',
    text: 'Il renvoie vers lui-même et n’atteint aucune page. Prévenez la personne qui vous l’a transmis.',
  },
  password: {
    title: 'Ce lien est protégé',
    text: 'Saisissez le mot de passe qui vous a été communiqué pour continuer.',
    label: 'Mot de passe',
    submit: 'Continuer',
    wrong: 'Ce mot de passe est incorrect. Veuillez réessayer.',
  },
  tooManyAttempts: {
    title: 'Trop de tentatives',
    text: (when) =>
      `Trop de mots de passe incorrects ont été saisis. Vous pourrez réessayer ${when}.`,
  },
  busy: {
    title: 'Ce lien est très demandé',
    text: (when) =>
      `Votre mot de passe n’a pas encore été vérifié. Vous pourrez réessayer ${when}.`,
  },
  unavailable: {
    title: 'Veuillez réessayer dans un instant',
    text: 'Ce lien ne peut pas être ouvert pour le moment. Le problème vient de ce service, et non du lien.',
  },
  elsewhere: {
    title: 'Ce serveur n’ouvre pas de liens',
    text: 'Il fait partie d’un groupe de serveurs, et cette requête était destinée à un autre.',
  },
  invalidRequest: {
    title: 'Impossible de répondre à cette requête',
    text: 'Sa forme n’est pas acceptée par ce serveur.',
  },
  tryAgain: 'Réessayer',
}
