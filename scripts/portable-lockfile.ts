type LockedPackage = { hasInstallScript?: true; optional?: true; os?: unknown; engines?: unknown }

/**
 * Returns the lockfile without what makes an installation depend on the machine's own npm and Node.js: install
 * scripts, which versions of npm that know no allowScripts run; and the versions of Node.js that packages for one
 * platform require, without which npm leaves them out. They run with the Node.js that npm installs.
 */
export function portableLockfile(text: string): string {
  const lockfile = JSON.parse(text)
  for (const locked of Object.values<LockedPackage>(lockfile.packages)) {
    delete locked.hasInstallScript
    if (locked.optional && locked.os !== undefined) delete locked.engines
  }
  return `${JSON.stringify(lockfile, null, 2)}\n`
}
