/** The environment variable that the test runner sets to `long` for the long forms. */
export const FORM = 'TEST_FORM'

/** Whether tests run in their long form. */
export const isLongForm = process.env[FORM] === 'long'

/** How much some tests do, in each form. An environment variable of a setting's name overrides it. */
const SETTINGS = {
  /** Seconds of the mixed attack. */
  ATTACK_SECONDS: { short: 6, long: 6 },
  /** Rounds of killed backups and restores, over both engines. */
  BACKUP_ROUNDS: { short: 4, long: 100 },
  /**
   * One of so many comparisons and interruptions over ClickHouse, where a query takes tens of milliseconds of processor
   * time, however little it reads.
   */
  CLICKHOUSE_SHARE: { short: 5, long: 1 },
  /** Copies of a running folder. */
  COPIES: { short: 2, long: 50 },
  /** Statements of the drain at which it is killed, on each engine. */
  DRAIN_KILLS: { short: 8, long: Number.POSITIVE_INFINITY },
  /** Seconds for which a client reads nothing. */
  FAULT_HOLD_SECONDS: { short: 0.5, long: 10 },
  /** Nodes beside a failing PostgreSQL. */
  FAULT_NODES: { short: 5, long: 5 },
  /** How often each fault of PostgreSQL, a partition and a stop are repeated. */
  FAULT_ROUNDS: { short: 1, long: 5 },
  /** Visitors during faults of PostgreSQL. */
  FAULT_VISITORS: { short: 6, long: 24 },
  /** Links with a password that are created at the same time. */
  FLOOD_HASHES: { short: 80, long: 600 },
  /** QR codes that one workspace requests at the same time. */
  FLOOD_PICTURES: { short: 60, long: 590 },
  /** Requests of the run over the API description; other random cases are in proportion. */
  FUZZ_CASES: { short: 5_000, long: 100_000 },
  /** Kills of an import of links, on each engine. */
  IMPORT_KILLS: { short: 1, long: 200 },
  /** Kills of an import of clicks, on each engine. */
  IMPORT_CLICKS_KILLS: { short: 3, long: 200 },
  /** Kills of the process that sends webhooks, on each engine. */
  WEBHOOK_KILLS: { short: 1, long: 50 },
  /** Kills of the service, over both engines. */
  KILL_ROUNDS: { short: 12, long: 200 },
  /** Seconds for which another program locks the database. */
  LOCK_SECONDS: { short: 6, long: 30 },
  /** Rolling restarts, over both engines. */
  RESTARTS: { short: 4, long: 20 },
  /** Statements that fail while a folder is opened, used and closed. */
  RUN_FAILURES: { short: 15, long: Number.POSITIVE_INFINITY },
  /** Kills of each kind while a folder is opened, used and closed. */
  RUN_KILLS: { short: 3, long: Number.POSITIVE_INFINITY },
  /** Visitors whom each split divides. */
  SPLIT_VISITORS: { short: 200_000, long: 10_000_000 },
  /** Claims on names that do not answer. */
  SILENT_CLAIMS: { short: 120, long: 1_800 },
  /** Seconds of load, over both engines. */
  SOAK_SECONDS: { short: 8, long: 1_200 },
  /** Kills of one of several processes, over both engines. */
  WORKER_KILL_ROUNDS: { short: 6, long: 200 },
} as const

/** Returns a setting's value in the form of this run. */
export function formSetting(name: keyof typeof SETTINGS): number {
  const { short, long } = SETTINGS[name]
  return Number(process.env[name] ?? (isLongForm ? long : short))
}
