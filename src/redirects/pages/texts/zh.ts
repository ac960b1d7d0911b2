import type { PageTexts } from './page-texts.ts'

export const zh: PageTexts = {
  tag: 'zh-Hans',
  months: ['1月', '2月', '3月', '4月', '5月', '6月', '7月', '8月', '9月', '10月', '11月', '12月'],
  day: (day, month, year) => `${year}年${month}${day}日`,
  wait: (seconds) => `${seconds}\u2060秒后`,
  notFound: {
    title: '此地址没有对应的链接',
    text: '请检查地址是否完整、拼写是否正确。如果是他人发给您的，请向对方索取最新地址。',
  },
  unknownHost: {
    title: '此域名未在此处使用',
    text: '该域名指向此服务器，但尚未在此设置，或其设置尚未得到确认。',
  },
  expired: {
    title: '此链接已过期',
    text: (date) => `此链接已于${date}（UTC）过期。请向分享者索取新链接。`,
  },
  upcoming: {
    title: '此链接尚未生效',
    text: (date) => `此链接将于${date}（UTC）生效。`,
  },
  usedUp: {
    title: '此链接的次数已用完',
    text: '此链接只能打开有限的次数，现已全部用完。请向分享者索取新链接。',
  },
  preview: {
    title: '此链接只能打开有限的次数',
    text: '检查链接的程序会看到此页面，以免占用次数。请继续以打开链接。',
  },
  loop: {
    title: '此链接循环跳转',
    text: '它最终又回到自身，无法到达任何页面。请告知分享者。',
  },
  password: {
    title: '此链接受密码保护',
    text: '请输入您收到的密码以继续。',
    label: '密码',
    submit: '继续',
    wrong: '密码不正确，请重试。',
  },
  tooManyAttempts: {
    title: '尝试次数过多',
    text: (when) => `输入错误密码的次数过多。您可以在${when}重试。`,
  },
  busy: {
    title: '正在打开此链接的人较多',
    text: (when) => `您的密码尚未验证。您可以在${when}重试。`,
  },
  unavailable: {
    title: '请稍后重试',
    text: '暂时无法打开此链接。问题出在本服务，而非链接本身。',
  },
  elsewhere: {
    title: '此服务器不打开链接',
    text: '它是多台服务器之一，此请求本应发往另一台。',
  },
  invalidRequest: {
    title: '无法处理此请求',
    text: '此服务器不接受其格式。',
  },
  tryAgain: '重试',
}
