import { testElementsIn } from '../../support/element-scenarios.js';
import { launchWebKit } from '../../support/webkit.js';

testElementsIn(launchWebKit);
