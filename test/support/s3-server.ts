import S3rver from 's3rver'
import type { S3Access } from '../../src/backup/targets/s3-target.ts'
import { createFolder } from './engines.ts'

/**
 * An S3-compatible server of its own with one bucket, `backups`. It knows one access key, and does not verify
 * signatures of version 4.
 */
export async function startS3Server(): Promise<{ access: S3Access; stop(): Promise<void> }> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    vhostBuckets: false,
    directory: createFolder(),
    configureBuckets: [{ name: 'backups', configs: [] }],
  })
  const { port } = await server.run()
  return {
    access: {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    },
    stop: () => server.close(),
  }
}
