import { constants } from 'node:os'
import { headerSets } from './header-sets.ts'
import type { LoadSpec } from './load-spec.ts'
import {
  HOST,
  MISSING_KEYS,
  MISSING_PREFIX,
  PATH_PREFIX,
  SCATTER,
  type Traffic,
} from './traffic.ts'

/** Precedes the result, a JSON object, in the output of wrk. */
export const RESULT_MARK = 'RESULT '

const { SIGINT } = constants.signals
/** Reading the clock costs a system call: once in so many requests is enough. */
const REQUESTS_PER_CLOCK_READING = 32

/**
 * The Lua script that creates wrk's requests. When the time is over it returns no further request,
 * and wrk leaves that connection idle; when all are idle it ends wrk as Ctrl-C would. So every
 * request that was sent gets its answer, however late, and can be compared exactly with the
 * server's count.
 *
 * wrk calls `request` once before the start, to check its result, and does not send it.
 */
export function wrkScript(spec: LoadSpec): string {
  const headers = headerSets(HOST).map((text) => `  ${JSON.stringify(` HTTP/1.1\r\n${text}`)},`)
  return `
local ffi = require('ffi')
ffi.cdef('typedef struct { long s; long ns; } timespec; int clock_gettime(int clock, timespec *t);')
ffi.cdef('int getpid(); int kill(int pid, int signal);')
local now = ffi.new('timespec')
local function clock()
  ffi.C.clock_gettime(1, now)
  return tonumber(now.s) + tonumber(now.ns) / 1e9
end

local headers = {
${headers.join('\n')}
}
local random, exp, log, floor = math.random, math.exp, math.log, math.floor
${SAMPLERS[spec.traffic.kind](spec.traffic)}

local deadline
local idle = 0
sent = -1

function init()
  math.randomseed(${spec.seed})
end

function request()
  if sent % ${REQUESTS_PER_CLOCK_READING} == 0 then
    if deadline == nil then
      deadline = clock() + ${spec.seconds}
    elseif clock() > deadline then
      idle = idle + 1
      if idle == ${spec.connections} then
        ffi.C.kill(ffi.C.getpid(), ${SIGINT})
      end
      return ''
    end
  end
  sent = sent + 1
  return 'GET ' .. path() .. headers[random(${headers.length})]
end

local thread
function setup(created)
  thread = created
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '${RESULT_MARK}{"sent":%d,"answered":%d,"failed":%d,"notFound":%d,"p50Micros":%d,"p99Micros":%d}',
    thread:get('sent'),
    summary.requests,
    errors.connect + errors.read + errors.write + errors.timeout,
    errors.status,
    latency:percentile(50),
    latency:percentile(99)
  ))
end
`
}

const SAMPLERS: Record<Traffic['kind'], (traffic: Traffic) => string> = {
  uniform: ({ links }) => `
local function path()
  return '${PATH_PREFIX}' .. random(${links})
end`,
  missing: () => `
local function path()
  return '${MISSING_PREFIX}' .. random(${MISSING_KEYS - 1})
end`,
  // As in draw-path.ts.
  zipf: ({ links }) => `
local top, bottom = log(${links} + 0.5), log(1.5) - 1
local always = 2 - exp(log(2.5) - 0.5)
local function rank()
  while true do
    local u = top + random() * (bottom - top)
    local x = exp(u)
    local k = floor(x + 0.5)
    if k < 1 then k = 1 elseif k > ${links} then k = ${links} end
    if k - x <= always or u >= log(k + 0.5) - 1 / k then return k end
  end
end
local function path()
  return '${PATH_PREFIX}' .. rank() * ${SCATTER} % ${links} + 1
end`,
}
