import { SETTINGS } from '../src/app/config/settings.ts'

/** The table of all settings, in Markdown. */
export function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(([name, setting]) => {
    const secret = 'secret' in setting ? ` Also from a file: \`${name}_FILE\`.` : ''
    return `| \`${name}\` | ${defaultOf(setting)} | ${setting.description}${secret} |`
  })
  return ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function defaultOf(setting: { default: string | undefined; unset?: string }): string {
  if (setting.default === undefined) return setting.unset ?? 'unset'
  return setting.default === '' ? 'empty' : `\`${setting.default}\``
}
