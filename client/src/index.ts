export {
  ApiError,
  type ClientOptions,
  dataOf,
  eachOf,
  openClient,
  type Schemas,
  type TerseClient,
  versionOf,
} from './client.ts'
export type { RetryOptions } from './retries.ts'
export type { paths } from './schema.ts'
export { type Delivery, verifyWebhook, WebhookError } from './webhooks.ts'
