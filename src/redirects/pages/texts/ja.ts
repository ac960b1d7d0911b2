import type { PageTexts } from './page-texts.ts'

export const ja: PageTexts = {
  tag: 'ja',
  months: ['1月', '2月', '3月', '4月', '5月', '6月', '7月', '8月', '9月', '10月', '11月', '12月'],
  day: (day, month, year) => `${year}年${month}${day}日`,
  wait: (seconds) => `${seconds}\u2060秒後`,
  notFound: {
    title: 'このアドレスにリンクはありません',
    text: 'アドレスに抜けや入力間違いがないかご確認ください。どなたかから受け取った場合は、最新のアドレスをお尋ねください。',
  },
  unknownHost: {
    title: 'このドメインはここでは使われていません',
    text: 'このサーバーに接続されていますが、ここで設定されていないか、設定の確認がまだ済んでいません。',
  },
  expired: {
    title: 'このリンクは有効期限が切れています',
    text: (date) =>
      `${date}（UTC）に期限が切れました。リンクを共有した方に、新しいリンクをお尋ねください。`,
  },
  password: {
    title: 'このリンクは保護されています',
    text: '続けるには、受け取ったパスワードを入力してください。',
    label: 'パスワード',
    submit: '続ける',
    wrong: 'パスワードが正しくありません。もう一度お試しください。',
  },
  tooManyAttempts: {
    title: '試行回数が多すぎます',
    text: (when) => `間違ったパスワードが何度も入力されました。${when}にもう一度お試しください。`,
  },
  busy: {
    title: 'このリンクにアクセスが集中しています',
    text: (when) => `パスワードはまだ確認されていません。${when}にもう一度お試しください。`,
  },
  unavailable: {
    title: 'しばらくしてからお試しください',
    text: '現在、このリンクを開くことができません。リンクではなく、このサービスの問題です。',
  },
  elsewhere: {
    title: 'このサーバーはリンクを開きません',
    text: 'サーバーは複数あり、このリクエストは別のサーバー宛てのものです。',
  },
  invalidRequest: {
    title: 'このリクエストには応答できません',
    text: 'このサーバーが受け付けない形式です。',
  },
  tryAgain: 'もう一度試す',
}
