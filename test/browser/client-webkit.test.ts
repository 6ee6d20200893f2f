import { testClientIn } from '../support/client-scenarios.js';
import { launchWebKit } from '../support/webkit.js';

testClientIn(launchWebKit);
