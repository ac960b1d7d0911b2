import { writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { RemoteFault } from '../login-file.ts'
import { LINK, openRemote } from '../open-remote.ts'

type QrOptions = {
  readonly output?: string
  readonly level?: string
  readonly size?: string
  readonly color?: string
  readonly track?: true
  readonly json?: true
}

/** Light modules around a code, as scanners need them. */
const MARGIN = 2

export function addQr(command: Command, terminal: Terminal): void {
  command
    .command('qr')
    .description('Show the QR code of a link in the terminal, or write it to a file.')
    .argument(...LINK)
    .option('-o, --output <file>', 'write to this file, whose name ends in .png or .svg')
    .addOption(new Option('--level <level>', 'error correction').choices(['L', 'M', 'Q', 'H']))
    .option('--size <pixels>', 'width and height of a PNG')
    .option('--color <color>', 'the colour in a file, such as #003366')
    .option('--track', 'count visits through this code apart')
    .option('--json', 'print what the code contains, and the file, as JSON')
    .addHelpText('after', example('link qr spring -o spring.svg'))
    .action(async (text: string, options: QrOptions) => {
      const format = formatOf(options.output)
      const { client, find, addressOf } = await openRemote()
      const link = await find(text)
      const { output, level, size, color, track } = options
      const address = addressOf(link)
      const content = encodeURI(track ? `${address}?qr=1` : address)
      if (output !== undefined) {
        const isElsewhere = address !== link.link
        const query = {
          ...{ format, level, size, color, track: track && 'true' },
          ...(isElsewhere && { address: 'visit' }),
        }
        writeFileSync(output, await client.bytes(`/links/${link.id}/qr-code`, query))
        if (!options.json) terminal.err(`The QR code of ${content} is in ${output}.`)
      } else if (!options.json) {
        const { default: encodeQR } = await import('qr')
        const ecc = LEVELS[level ?? 'M'] ?? 'medium'
        terminal.out(drawQr(encodeQR(content, 'raw', { ecc, border: MARGIN })))
      }
      if (options.json) terminal.out(plainJson({ link: link.link, content, file: output ?? null }))
    })
}

const LEVELS: Readonly<Record<string, 'low' | 'medium' | 'quartile' | 'high'>> = {
  L: 'low',
  M: 'medium',
  Q: 'quartile',
  H: 'high',
}

/**
 * Draws two rows of modules in each line, light ones as blocks: on a dark terminal, as most are, the code is dark on
 * light. Scanners read the reverse too.
 */
function drawQr(modules: readonly (readonly boolean[])[]): string {
  const lines: string[] = []
  for (let row = 0; row < modules.length; row += 2) {
    const [upper = [], lower] = [modules[row], modules[row + 1]]
    lines.push(
      upper
        .map((isDark, column) => {
          const isLowerDark = lower === undefined || lower[column] === true
          if (isDark) return isLowerDark ? ' ' : '▄'
          return isLowerDark ? '▀' : '█'
        })
        .join(''),
    )
  }
  return lines.join('\n')
}

/** @throws for a file name with another ending */
function formatOf(output: string | undefined): 'png' | 'svg' {
  if (output === undefined || output.toLowerCase().endsWith('.png')) return 'png'
  if (output.toLowerCase().endsWith('.svg')) return 'svg'
  throw new RemoteFault('The name of the file must end in .png or .svg.', 'validation_failed')
}
