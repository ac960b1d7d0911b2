/** Facts about the whole instance, by name. */
export type InstanceStore = {
  find(name: string): Promise<string | undefined>
  /** Keeps `value` unless there is one already; returns what is kept. */
  keep(name: string, value: string): Promise<string>
}
