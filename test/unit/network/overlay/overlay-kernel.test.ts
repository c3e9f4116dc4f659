import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyOverlay, readOverlay } from '../../../../src/network/overlay/kernel.ts';
import { noOverlay } from '../../../../src/network/overlay/plan.ts';
import { defaultNames } from '../../../../src/network/rules.ts';
import { type Exec, ExecError } from '../../../../src/os/exec.ts';
import { troubleText } from '../../../fixtures/troubleshooting.ts';

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

test('invalid JSON from ip(8) is an error', async () => {
  await assert.rejects(readOverlay(execOf('[{"ifname":"x",]'), defaultNames), SyntaxError);
});

test('the error for a VXLAN port that another process uses names the port and the way out', async () => {
  const vxlan = {
    local: '198.19.1.1',
    dev: 'eth0',
    mac: '0a:58:0a:f4:00:00',
    mtu: 1450,
    address: '10.244.0.0',
  };
  const failing =
    (stderr: string): Exec =>
    async (file, args) => {
      throw new ExecError({ file, args, stdout: '', stderr, code: 1 }, 'exit status 1');
    };
  const apply = (said: string) =>
    applyOverlay(failing(said), noOverlay, { ...noOverlay, vxlan }, defaultNames);
  await assert.rejects(apply('RTNETLINK answers: Address already in use\n'), ({ message }: Error) => {
    assert.match(message, /^UDP port 8472 is taken .* \(ss -lnup sport = :8472 names it\)/);
    assert.match(message, troubleText('give --overlay host-routes on all nodes'));
    return true;
  });
  await assert.rejects(apply('Cannot find device "eth0"\n'), /^ExecError: .*Cannot find device "eth0"$/);
});
