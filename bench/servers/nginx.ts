import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { destinationOf, HOST, pathOf } from '../load/traffic.ts'
import { endWithThisProcess } from '../support/children.ts'
import { onCores, SERVER_CORE } from '../support/cores.ts'
import type { MeasuredServer } from '../support/server-process.ts'
import { untilListening } from './until-listening.ts'

export type Nginx = MeasuredServer & {
  /** Redirects in the access log so far; nginx writes its buffer within a second. */
  countLogged(): Promise<number>
}

export function nginxVersion(program: string): string {
  // It prints its version on standard error.
  return execFileSync('/bin/sh', ['-c', '"$0" -v 2>&1', program], { encoding: 'utf8' })
    .trim()
    .replace('nginx version: ', '')
}

/** Starts nginx with the links in a `map` and a buffered access log. */
export async function startNginx(program: string, folder: string, links: number): Promise<Nginx> {
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, 'nginx.conf')
  const log = path.join(folder, 'access.log')
  writeFileSync(path.join(folder, 'links.map'), linksMap(links))
  writeFileSync(file, configuration(port, links))
  const [command, args] = onCores([SERVER_CORE], program, [
    ...['-p', `${folder}/`, '-c', file, '-e', 'error.log'],
  ])
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  endWithThisProcess(child)
  const exited = once(child, 'exit')
  await untilListening(port)
  return {
    pid: child.pid as number,
    port,
    countLogged: redirectsLogged(log),
    async stop() {
      child.kill('SIGQUIT')
      await exited
    },
  }
}

function linksMap(links: number): string {
  const lines = Array.from({ length: links }, (_, index) => {
    const link = index + 1
    return `${pathOf(link)} ${destinationOf(link)};\n`
  })
  return lines.join('')
}

/**
 * The default configuration, except for what a comparison with the same connections throughout
 * needs.
 */
function configuration(port: number, links: number): string {
  return `
daemon off;
worker_processes 1;
${userInfo().uid === 0 ? 'user root;' : ''}
pid nginx.pid;
error_log error.log;
events { worker_connections 4096; }
http {
  access_log access.log combined buffer=64k flush=1s;
  keepalive_requests 1000000000;
  client_body_temp_path temp;
  proxy_temp_path temp;
  fastcgi_temp_path temp;
  uwsgi_temp_path temp;
  scgi_temp_path temp;
  map_hash_max_size ${links * 4};
  map_hash_bucket_size 128;
  map $uri $destination {
    include links.map;
  }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    server_name ${HOST};
    location / {
      if ($destination = '') { return 404; }
      return 302 $destination;
    }
  }
}
`
}

/** Counts the redirects in a growing log, reading each line once. */
function redirectsLogged(log: string): () => Promise<number> {
  let count = 0
  let offset = 0
  return async () => {
    let rest = ''
    for await (const chunk of createReadStream(log, { encoding: 'latin1', start: offset })) {
      offset += chunk.length
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      count += lines.filter((line) => line.includes('" 302 ')).length
    }
    offset -= rest.length
    return count
  }
}
