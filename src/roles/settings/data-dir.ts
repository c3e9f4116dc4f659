/** The data directory, for commands that read nothing else of a master's settings. */
import { configFileOf } from '../../installation/plan/role.ts';
import { settingTable } from './setting-table.ts';
import { readSettings, settingArgs } from './settings.ts';

const rows = { 'data-dir': settingTable['data-dir'] } as const;

export const dataDirFlag = settingArgs(rows, configFileOf.master);

/** Returns the data directory of the flags, the environment or the master's file. Throws UsageError. */
export const dataDirIn = (args: Readonly<Record<string, unknown>>): string =>
  readSettings(rows, {
    ...{ command: 'minik8s master', flags: args, environment: process.env, configFile: configFileOf.master },
    translate: (file) => Object.fromEntries(Object.entries(file).filter(([key]) => Object.hasOwn(rows, key))),
  })['data-dir'];
