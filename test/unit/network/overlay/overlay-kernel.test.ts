import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOverlay } from '../../../../src/network/overlay/kernel.ts';
import { defaultNames } from '../../../../src/network/rules.ts';
import type { Exec } from '../../../../src/os/exec.ts';

/** Output of ip(8) of Ubuntu 24.04, shortened. */
const link =
  '[{"ifname":"minik8s.vxlan","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1450,"address":"0a:58:0a:f4:00:00",' +
  '"linkinfo":{"info_kind":"vxlan","info_data":{"id":1fan-map ,"local":"198.19.1.1","link":"eth0","port":8472}},' +
  '"addr_info":[{"family":"inet","local":"10.244.0.0","prefixlen":32}]}]';

const execOf =
  (links: string): Exec =>
  async (_program, args) => ({ stdout: args.includes('vxlan') ? links : '[]', stderr: '' });

test('additions of Ubuntu to the details of a link are ignored', async () => {
  for (const text of [
    link,
    link.replace('fan-map ', 'fan-map 10.0.0.0/8:172.16.0.0/12 '),
    link.replace('fan-map ', ''),
  ]) {
    const { state } = await readOverlay(execOf(text), defaultNames);
    assert.deepEqual(state.vxlan, {
      local: '198.19.1.1',
      dev: 'eth0',
      mac: '0a:58:0a:f4:00:00',
      mtu: 1450,
      address: '10.244.0.0',
    });
  }
});

test('invalid JSON is an error', async () => {
  await assert.rejects(readOverlay(execOf('[{"ifname":"x",]'), defaultNames), SyntaxError);
});
