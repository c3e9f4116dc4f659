/** Ports of the web server that the settings name. Pure. */
import type { Situation } from '../../doctor/situation.ts';
import type { Settings } from '../settings/setting-table.ts';

export function webPortsOf(
  settings: Settings<'http-port' | 'https-port' | 'serve-ingress'>,
): Situation['webPorts'] {
  if (settings['serve-ingress'] !== 'true') return [];
  const https = settings['https-port'];
  return [
    { port: settings['http-port'], flag: '--http-port' },
    ...(https === 0 ? [] : [{ port: https, flag: '--https-port' } as const]),
  ];
}
