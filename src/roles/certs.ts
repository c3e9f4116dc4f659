/** `minik8s certs`: the certificates of this machine. */
import { existsSync } from 'node:fs';
import { defineCommand } from 'citty';
import { stopSignal } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { UsageError } from '../base/usage-error.ts';
import { configFileOf } from '../installation/plan/role.ts';
import { serviceCommand } from '../installation/plan/service-manager.ts';
import { serviceHere } from '../installation/services.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { findCertificates } from './certs/certificate-files.ts';
import { formatCertificates } from './certs/certificate-list.ts';
import { checkCertificates } from './certs/check-plan.ts';
import { rotateAuthority } from './certs/rotate-ca.ts';
import { requireRoot } from './preflight.ts';
import { settingTable } from './settings/setting-table.ts';
import { readSettings, settingArgs } from './settings/settings.ts';

const rows = { 'data-dir': settingTable['data-dir'] } as const;

const checkFlags = {
  within: {
    type: 'string',
    valueHint: 'DAYS',
    ...{ description: 'report certificates that expire within this number of days', usual: '30' },
    ...{ group: flagHeadings.within },
  },
  json: {
    type: 'boolean',
    ...{ description: 'print JSON', usual: 'a table', group: flagHeadings.json },
  },
} as const;

const check = defineCommand({
  meta: { description: 'list the certificates of this machine; exit with 1 if one needs attention' },
  ...{
    examples: [
      'certs check # list the certificates with the times at which they expire',
      'certs check --within 60 # report certificates that expire within 60 days',
    ],
  },
  args: { ...settingArgs(rows, `${configFileOf.master} or ${configFileOf.node}`), ...checkFlags },
  async run({ args }) {
    const withinDays = daysOf(args.within);
    const dataDir = dataDirOf(args);
    const found = await findCertificates({ dataDir, configDirectory: '/etc/minik8s' });
    if (found.length === 0)
      throw new Error(`no certificates in ${dataDir}: name the data directory of minik8s with --data-dir`);
    const restart = serviceCommand(serviceHere(), 'restart');
    const certificates = checkCertificates(found, { now: systemClock.now(), withinDays, restart });
    const bad = certificates.filter(({ problem }) => problem !== undefined).length;
    process.stdout.write(
      args.json === true
        ? `${JSON.stringify({ dataDir, bad, certificates }, undefined, 2)}\n`
        : formatCertificates(certificates),
    );
    if (bad > 0)
      throw new Error(`${bad} of ${certificates.length} certificates of ${dataDir} need attention`);
  },
});

const rotateFlags = {
  status: {
    type: 'boolean',
    ...{ description: 'print the progress of the rotation', usual: 'rotate', group: flagHeadings.status },
  },
  finish: {
    type: 'boolean',
    ...{ description: 'end the trust in the former authority', usual: 'rotate', group: flagHeadings.finish },
  },
  force: {
    type: 'boolean',
    ...{
      description: 'do not wait for nodes that have not followed',
      usual: 'wait',
      group: flagHeadings.force,
    },
  },
} as const;

const rotateCa = defineCommand({
  meta: { description: "replace the cluster's authority while it works; run it on a master" },
  ...{
    examples: [
      'certs rotate-ca # rotate, and wait until all nodes have new certificates',
      'certs rotate-ca --status # see the progress of the rotation',
      'certs rotate-ca --finish # end the trust in the former authority',
    ],
  },
  args: { ...settingArgs(rows, configFileOf.master), ...rotateFlags },
  async run({ args }) {
    if (args.status && args.finish) throw new UsageError('give --status or --finish, not both');
    requireRoot();
    const rotation = args.status ? 'status' : 'rotate';
    await rotateAuthority(
      {
        dataDir: dataDirOf(args),
        action: args.finish ? 'finish' : rotation,
        force: args.force === true,
        clock: systemClock,
        say: (text) => process.stdout.write(text),
      },
      stopSignal(),
    );
  },
});

function daysOf(text = checkFlags.within.usual): number {
  if (!/^\d{1,4}$/.test(text))
    throw new UsageError(`--within ${JSON.stringify(text)}: expected a number of days, 0 to 9999`);
  return Number(text);
}

/** Returns the data directory by the flag or the configuration file of the master or the node. */
function dataDirOf(flags: Readonly<Record<string, unknown>>): string {
  return readSettings(rows, {
    command: 'minik8s master',
    flags,
    environment: process.env,
    configFile: existsSync(configFileOf.master) ? configFileOf.master : configFileOf.node,
    translate: (file) => Object.fromEntries(Object.entries(file).filter(([key]) => Object.hasOwn(rows, key))),
  })['data-dir'];
}

export const command = defineCommand({
  meta: { description: 'check the certificates of this machine, and rotate the authority' },
  ...{ examples: ['certs check # list the certificates with the times at which they expire'] },
  subCommands: { check, 'rotate-ca': rotateCa },
});
