import { formatMetrics, mergeExpositions } from '../../platform/metrics/exposition.ts'
import type { Metric, MetricSource } from '../../platform/metrics/metric.ts'
import type { Broadcast } from '../../platform/work/broadcast.ts'

/** What a process knows of the others of its service. */
export type Colleagues = {
  /** This process's own number among them, from 1. */
  readonly number: number
  readonly broadcast: Broadcast
}

/** The number of a process that is the whole service. */
export const ALONE = 1

/**
 * What a service measures of itself. Each number carries the label `process`: the processes of a
 * service end and begin anew one by one, and a sum of their counters would fall each time, which
 * Prometheus takes for a service that began anew.
 */
export class ServiceMetrics {
  readonly #sources: MetricSource[] = []
  readonly #process: string
  readonly #broadcast: Broadcast | undefined

  readonly #onError: (error: unknown) => void

  /**
   * @param colleagues undefined for a process that is the whole service
   * @param onError told of what could not be measured, which is left out
   */
  constructor(colleagues: Colleagues | undefined, onError: (error: unknown) => void) {
    this.#onError = onError
    this.#process = String(colleagues?.number ?? ALONE)
    this.#broadcast = colleagues?.broadcast
    this.#broadcast?.onRequest(() => this.#own())
  }

  /** Has a part of the node measured too, from now on. */
  add(source: MetricSource): void {
    this.#sources.push(source)
  }

  /** Of all processes of the service, whichever of them is asked. */
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
