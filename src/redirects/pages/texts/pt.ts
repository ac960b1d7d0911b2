import type { PageTexts } from './page-texts.ts'

export const pt: PageTexts = {
  tag: 'pt-BR',
  months: [
    'janeiro',
    'fevereiro',
    'março',
    'abril',
    'maio',
    'junho',
    'julho',
    'agosto',
    'setembro',
    'outubro',
    'novembro',
    'dezembro',
  ],
  // Only the first of a month is an ordinal.
  day: (day, month, year) => `${day === 1 ? '1º' : day}\u00a0de ${month} de ${year}`,
  wait: (seconds) => `em ${seconds}\u00a0${seconds === 1 ? 'segundo' : 'segundos'}`,
  notFound: {
    title: 'Não há nenhum link neste endereço',
    text: 'Verifique se o endereço está completo e escrito corretamente. Se alguém o enviou a você, peça o endereço atual.',
  },
  unknownHost: {
    title: 'Este domínio não é usado aqui',
    text: 'Ele leva a este servidor, mas não foi configurado aqui, ou sua configuração ainda não foi confirmada.',
  },
  expired: {
    title: 'Este link expirou',
    text: (date) => `Ele expirou em ${date} (UTC). Peça um novo à pessoa que o compartilhou.`,
  },
  upcoming: {
    title: 'Este link ainda não está ativo',
    text: (date) => `Ele passará a funcionar em ${date} (UTC).`,
  },
  usedUp: {
    title: 'Este link foi esgotado',
    text: 'Ele permite um número limitado de visitas, e todas já foram feitas. Peça um novo à pessoa que o compartilhou.',
  },
  preview: {
    title: 'Este link abre um número limitado de vezes',
    text: 'Programas que verificam links veem esta página, para não esgotá-lo. Continue para abrir o link.',
  },
  loop: {
    title: 'Este link anda em círculos',
    text: 'Ele leva de volta a si mesmo e não chega a nenhuma página. Avise a pessoa que o compartilhou.',
  },
  password: {
    title: 'Este link é protegido',
    text: 'Digite a senha que você recebeu para continuar.',
    label: 'Senha',
    submit: 'Continuar',
    wrong: 'A senha está incorreta. Tente novamente.',
  },
  tooManyAttempts: {
    title: 'Muitas tentativas',
    text: (when) =>
      `Senhas incorretas foram digitadas muitas vezes. Você poderá tentar novamente ${when}.`,
  },
  busy: {
    title: 'Muitas pessoas estão abrindo este link',
    text: (when) => `Sua senha ainda não foi verificada. Você poderá tentar novamente ${when}.`,
  },
  unavailable: {
    title: 'Tente novamente em instantes',
    text: 'Não é possível abrir este link agora. O problema está neste serviço, não no link.',
  },
  elsewhere: {
    title: 'Este servidor não abre links',
    text: 'Ele é um entre vários, e esta solicitação era destinada a outro.',
  },
  invalidRequest: {
    title: 'Não é possível responder a esta solicitação',
    text: 'Este servidor não aceita o formato dela.',
  },
  tryAgain: 'Tentar novamente',
}
