import type { PageTexts } from './page-texts.ts'

export const es: PageTexts = {
  tag: 'es',
  months: [
    'enero',
    'febrero',
    'marzo',
    'abril',
    'mayo',
    'junio',
    'julio',
    'agosto',
    'septiembre',
    'octubre',
    'noviembre',
    'diciembre',
  ],
  day: (day, month, year) => `${day}\u00a0de ${month} de ${year}`,
  wait: (seconds) => `dentro de ${seconds}\u00a0${seconds === 1 ? 'segundo' : 'segundos'}`,
  notFound: {
    title: 'No hay ningún enlace en esta dirección',
    text: 'Compruebe que la dirección esté completa y bien escrita. Si alguien se la envió, pídale la actual.',
  },
  unknownHost: {
    title: 'Este dominio no se usa aquí',
    text: 'Conduce a este servidor, pero no está configurado aquí o su configuración aún no se ha confirmado.',
  },
  expired: {
    title: 'Este enlace ha caducado',
    text: (date) =>
      `Caducó el ${date} (UTC). Pídale uno nuevo a la persona que lo compartió con usted.`,
  },
  upcoming: {
    title: 'Este enlace todavía no está activo',
    text: (date) => `Funcionará a partir del ${date} (UTC).`,
  },
  usedUp: {
    title: 'Este enlace se ha agotado',
    text: 'Admite un número limitado de visitas, y ya se han hecho todas. Pídale uno nuevo a la persona que lo compartió con usted.',
  },
  preview: {
    title: 'Este enlace se abre un número limitado de veces',
    text: 'Los programas que revisan enlaces ven esta página para no agotarlo. Continúe para abrir el enlace.',
  },
  loop: {
    title: 'Este enlace da vueltas en círculo',
    text: 'Vuelve a sí mismo y no llega a ninguna página. Avise a la persona que lo compartió con usted.',
  },
  password: {
    title: 'Este enlace está protegido',
    text: 'Introduzca la contraseña que recibió para continuar.',
    label: 'Contraseña',
    submit: 'Continuar',
    wrong: 'La contraseña no es correcta. Inténtelo de nuevo.',
  },
  tooManyAttempts: {
    title: 'Demasiados intentos',
    text: (when) =>
      `Se han introducido demasiadas contraseñas incorrectas. Podrá intentarlo de nuevo ${when}.`,
  },
  busy: {
    title: 'Muchas personas están abriendo este enlace',
    text: (when) => `Su contraseña aún no se ha comprobado. Podrá intentarlo de nuevo ${when}.`,
  },
  unavailable: {
    title: 'Inténtelo de nuevo en un momento',
    text: 'Este enlace no se puede abrir ahora mismo. El problema está en este servicio, no en el enlace.',
  },
  elsewhere: {
    title: 'Este servidor no abre enlaces',
    text: 'Es uno de varios, y esta solicitud iba dirigida a otro.',
  },
  invalidRequest: {
    title: 'No se puede responder a esta solicitud',
    text: 'Este servidor no acepta su formato.',
  },
  tryAgain: 'Intentar de nuevo',
}
