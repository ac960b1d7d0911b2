import {
  formatMetrics,
  type Metric,
  type MetricSource,
  mergeExpositions,
} from '../../platform/metrics/metric.ts'
import type { Broadcast } from '../processes/supervisor-link.ts'

/** How a process reaches the other processes of its service. */
export type Colleagues = {
  /** This process's own number among them, from 1. */
  readonly number: number
  readonly broadcast: Broadcast
}

/** The number of the process of a single-process service. */
export const ALONE = 1

/**
 * The metrics of a service. Each sample carries the label `process`: the processes of a service restart
 * one by one, and a sum of their counters would fall each time, which Prometheus takes for a counter
 * reset.
 */
export class ServiceMetrics {
  readonly #sources: MetricSource[] = []
  readonly #process: string
  readonly #broadcast: Broadcast | undefined

  readonly #onError: (error: unknown) => void

  /**
   * @param colleagues undefined for a process that is the whole service
   * @param onError receives the error of a source; its metrics are left out
   */
  constructor(colleagues: Colleagues | undefined, onError: (error: unknown) => void) {
    this.#onError = onError
    this.#process = String(colleagues?.number ?? ALONE)
    this.#broadcast = colleagues?.broadcast
    this.#broadcast?.onRequest(() => this.#own())
  }

  /** Adds the metrics of a part of the node. */
  add(source: MetricSource): void {
    this.#sources.push(source)
  }

  /** Returns the metrics of all processes of the service, in the text format of Prometheus. */
  async text(): Promise<string> {
    const texts = (await this.#broadcast?.request()) ?? []
    return mergeExpositions(texts.length > 0 ? texts : [await this.#own()])
  }

  async #own(): Promise<string> {
    const metrics: Metric[] = []
    for (const source of this.#sources) {
      try {
        metrics.push(...(await source()))
      } catch (error) {
        this.#onError(error)
      }
    }
    return formatMetrics(metrics, { process: this.#process })
  }
}
