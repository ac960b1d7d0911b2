/** The exports of the webhook tables for other modules. Loads Kysely, which `../index.ts` does not. */

export { type AttemptStore, attemptStore } from './attempt-store.ts'
export { type MessageStore, messageStore } from './message-store.ts'
export { type OutboxStore, outboxStore } from './outbox-store.ts'
export { type WebhookStore, webhookStore } from './webhook-store.ts'
