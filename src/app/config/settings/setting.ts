import type { z } from 'zod'

type Setting<S extends z.ZodType> = {
  /** Reads the variable's text. */
  readonly schema: S
  /** The text that stands for an unset variable; undefined where unset means something else. */
  readonly default: string | undefined
  /** What an unset variable means, where no text says it. */
  readonly unset?: string
  readonly description: string
  /** A secret may also come from the file that the variable with `_FILE` appended names. */
  readonly secret?: true
  /** The text is a path. A relative one in a settings file begins at the folder of that file. */
  readonly path?: true
}

/** Keeps the type that the schema reads. */
export function setting<S extends z.ZodType>(options: Setting<S>): Setting<S> {
  return options
}
