import type { Command } from 'commander';
import { sendTestMessage } from '../../app/test-message.js';
import { readConfig } from '../../config/config.js';
import { canonicalIdentity } from '../../identities/identity.js';
import { CommandError } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

interface TestOptions {
  readonly to: string;
  readonly provider?: string;
}

/** Registers `postern messages` with its subcommand. */
export function messagesCommand(program: Command, io: Io): void {
  program
    .command('messages')
    .description('check how messages are sent')
    .command('test')
    .description('send a text message without a code; the providers come from SMS_PROVIDER')
    .requiredOption('--to <number>', 'the phone number, such as +15551234567')
    .option('--provider <name>', 'the provider to use (default: the first that accepts the message)')
    .addHelpText('after', '\nExample:\n  postern messages test --to +15551234567 --provider twilio')
    .action((options: TestOptions) => testMessage(io, options));
}

async function testMessage(io: Io, { to, provider: name }: TestOptions): Promise<void> {
  const config = readConfig(io.env);
  const number = canonicalIdentity('phone', to, config.DEFAULT_REGION)?.canonical;
  if (number === undefined) throw new CommandError(`${to} is not a phone number with its country code.`);
  const provider = config.SMS_PROVIDER.find((configured) => configured === name);
  if (name !== undefined && provider === undefined) {
    throw new CommandError(`SMS_PROVIDER does not contain ${name}.`);
  }
  try {
    const acceptedSms = await sendTestMessage(config, {
      to: number,
      provider,
      print: (line) => printLine(io.stdout, line),
    });
    const reference = acceptedSms.reference === null ? '' : ` Its id is ${acceptedSms.reference}.`;
    printLine(io.stdout, `${acceptedSms.provider} has accepted the message.${reference}`);
  } catch (error) {
    throw new CommandError(`The message was not accepted. ${(error as Error).message}`);
  }
}
