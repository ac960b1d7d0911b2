import { readFileSync } from 'node:fs'
import type { LinkOptionsResource } from '@terse/contract/link-options'
import type { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { RemoteFault } from '../login-file.ts'
import { LINK, openRemote } from '../open-remote.ts'

type Options = { readonly image?: string; readonly json?: true }

export function addPreview(command: Command, terminal: Terminal): void {
  command
    .command('preview')
    .description(
      'Take title, description and picture of a link from the page at its destination, once; or upload a picture for it.',
    )
    .argument(...LINK)
    .option('--image <file>', 'upload this picture instead: PNG, JPEG, WebP or GIF, at most 1 MiB')
    .option('--json', 'print JSON')
    .addHelpText('after', example('link preview spring', 'link preview spring --image spring.png'))
    .action(async (text: string, { image: file, json }: Options) => {
      const { client, find } = await openRemote()
      const { linkOptionsSchema } = await import('@terse/contract/link-options')
      const bytes = file === undefined ? undefined : readBytes(file)
      const { id } = await find(text)
      if (bytes === undefined) {
        show(
          terminal,
          await client.post(`/links/${id}/preview`, linkOptionsSchema, undefined),
          json,
        )
        return
      }
      const { uploadedImageSchema } = await import('@terse/contract/previews')
      const { url: image } = await client.upload('/images', uploadedImageSchema, bytes)
      show(terminal, await client.patch(`/links/${id}/options`, linkOptionsSchema, { image }), json)
    })
}

/** @throws {RemoteFault} */
function readBytes(file: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(file))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new RemoteFault(`${file} cannot be read: ${reason}.`, 'validation_failed')
  }
}

function show(terminal: Terminal, options: LinkOptionsResource, json: true | undefined): void {
  const { title, description, image } = options
  const shown = { title, description, image }
  if (json) terminal.out(plainJson(shown))
  else {
    const lines = Object.entries(shown).map(([name, value]) => `${name}: ${value ?? '–'}`)
    terminal.out(lines.map(plainText).join('\n'))
  }
}
