import { expect, test } from 'vitest';
import { describeDevice, describeNetwork, describeTime } from '../../src/messages/notice-values.js';

test.each([
  [{}, ''],
  [{ make: 'Fairphone', model: 'FP5', os_name: 'Android', os_version: '14.1' }, 'Fairphone FP5, Android 14.1'],
  [{ os_name: 'Linux' }, 'Linux'],
  [{ model: 'Teléfono (2ª)' }, 'Teléfono (2a)'],
  [{ make: 'See https://evil.example/login', model: 'evil.com' }, 'See https evil example login evil com'],
  [{ make: 'a\r\nBcc: eve@evil.com' }, 'a Bcc eve evil com'],
  [{ make: '\u202Emoc.live\u202C', model: '{code}' }, 'moc live code'],
  [{ make: 'ｅｖｉｌ．ｃｏｍ' }, 'evil com'],
  [{ make: 'evil。com' }, 'evil com'],
  [{ make: 'x'.repeat(255) }, 'x'.repeat(40)],
  [{ make: '<b>bold</b>' }, 'b bold b'],
])('the device %j is described as %j', (device, name) => {
  expect(describeDevice(device)).toBe(name);
});

test.each([
  [undefined, ''],
  ['rubbish', ''],
  ['203.0.113.77', '203.0.113.0/24'],
  ['::ffff:203.0.113.77', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
])('the network of %s is %s', (address, network) => {
  expect(describeNetwork(address)).toBe(network);
});

test('a time is shown to the minute', () => {
  expect(describeTime('2017-10-19T17:02:03.181879Z')).toBe('2017-10-19 17:02 UTC');
});
